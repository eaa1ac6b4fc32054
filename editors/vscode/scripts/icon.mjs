// Draws the icon: warp threads that pass through the eyes of the wires of a heddle, one of which is
// raised. Usage: node icon.mjs FILE

import * as fs from "node:fs";
import * as zlib from "node:zlib";

const size = 128;
const sub = 4; // samples of a pixel in each direction
const background = [32, 40, 56];
const wire = [150, 166, 188];
const thread = [240, 176, 80];
const raised = [240, 96, 88];

/** The wires: the column of each, and the height of its eye. */
const wires = [
  { x: 28, eye: 64 },
  { x: 52, eye: 64 },
  { x: 76, eye: 40 },
  { x: 100, eye: 64 },
];

/** color returns the colour at a point, or undefined outside of the rounded square. */
function color(x, y) {
  const edge = Math.hypot(Math.max(20 - x, 0, x - 108), Math.max(20 - y, 0, y - 108));
  if (edge > 20) {
    return undefined;
  }
  if ((y > 12 && y < 18) || (y > 110 && y < 116)) {
    return x > 12 && x < 116 ? wire : background;
  }
  for (const w of wires) {
    const distance = Math.hypot(x - w.x, (y - w.eye) * 0.7);
    if (distance < 4) {
      return w.eye < 64 ? raised : thread;
    }
    if (distance < 8 && distance > 5.5) {
      return wire;
    }
    if (Math.abs(x - w.x) < 1.5 && distance >= 8 && y > 12 && y < 116) {
      return wire;
    }
  }
  return background;
}

/** chunk returns a chunk of a PNG file: length, type, data and checksum. */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc(body), body.length + 4);
  return out;
}

/** crc returns the CRC-32 of the PNG specification, annex D. */
function crc(data) {
  let c = 0xffffffff;
  for (const byte of data) {
    c ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    }
  }
  return (c ^ 0xffffffff) >>> 0;
}

const rows = Buffer.alloc(size * (1 + 4 * size)); // each row begins with filter 0
for (let y = 0; y < size; y++) {
  for (let x = 0; x < size; x++) {
    const sum = [0, 0, 0, 0];
    for (let i = 0; i < sub * sub; i++) {
      const at = color(x + ((i % sub) + 0.5) / sub, y + (Math.floor(i / sub) + 0.5) / sub);
      at?.forEach((v, k) => (sum[k] += v));
      sum[3] += at === undefined ? 0 : 1;
    }
    const offset = y * (1 + 4 * size) + 1 + 4 * x;
    for (let k = 0; k < 3; k++) {
      rows[offset + k] = sum[3] === 0 ? 0 : Math.round(sum[k] / sum[3]);
    }
    rows[offset + 3] = Math.round((255 * sum[3]) / (sub * sub));
  }
}
const header = Buffer.alloc(13);
header.writeUInt32BE(size, 0);
header.writeUInt32BE(size, 4);
header.set([8, 6, 0, 0, 0], 8); // 8 bits, RGBA
fs.writeFileSync(
  process.argv[2],
  Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", zlib.deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]),
);

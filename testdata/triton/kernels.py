# The source of the kernels beside it, in the form of Triton. Lines and columns are those of their
# .loc directives.
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


@triton.jit
def histogram(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    total = tl.sum(x, axis=0)
    old = tl.load(out_ptr)
    tl.store(out_ptr, old + total)


@triton.jit
def shift(value, by):
    return value - by


@triton.jit
def softmax(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=-float("inf"))
    e = tl.exp(shift(x, tl.max(x, axis=0)))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, tl.cdiv(k, BK)):
        a = tl.load(a_ptr + pid * BM * k + tl.arange(0, BM * BK) + i * BM * BK)
        b = tl.load(b_ptr + tl.arange(0, BK * BN) + i * BK * BN)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + pid * BM * BN + tl.arange(0, BM * BN), acc)


@triton.jit
def persistent(a_desc, b_desc, c_ptr, tiles):
    for t in range(tl.program_id(0), tiles, tl.num_programs(0)):
        a = a_desc.load([t, 0])
        b = b_desc.load([t, 0])
        tl.store(c_ptr + t * 256 + tl.arange(0, 256), a + b)


@triton.jit
def stream(a_desc, b_desc, c_ptr, K: tl.constexpr):
    pid = tl.program_id(0)
    for i in range(0, K):
        a = a_desc.load([pid, i * 16])
        b = b_desc.load([pid, i * 16])
        tl.store(c_ptr + (pid * K + i) * 256 + tl.arange(0, 256), a + b)

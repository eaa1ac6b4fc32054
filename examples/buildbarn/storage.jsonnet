// bb_storage: storage and cache, and the address for clients. It passes executions on.
local common = import 'common.libsonnet';
local dir = std.extVar('DATA');

// One storage in files that survive a restart. A blob is kept for at least oldBlocks of its size.
local files(name, bytes, newBlocks) = {
  backend: {
    'local': {
      keyLocationMapOnBlockDevice: {
        file: { path: dir + '/' + name + '/keys', sizeBytes: 16 * 1024 * 1024 },
      },
      keyLocationMapMaximumGetAttempts: 8,
      keyLocationMapMaximumPutAttempts: 32,
      oldBlocks: 8,
      currentBlocks: 24,
      newBlocks: newBlocks,
      blocksOnBlockDevice: {
        source: { file: { path: dir + '/' + name + '/blocks', sizeBytes: bytes } },
        spareBlocks: 3,
      },
      persistent: { stateDirectoryPath: dir + '/' + name + '/state', minimumEpochInterval: '5s' },
    },
  },
  getAuthorizer: { allow: {} },
  putAuthorizer: { allow: {} },
};

{
  grpcServers: common.open(std.extVar('STORAGE_LISTEN')),
  maximumMessageSizeBytes: common.maximumMessageSizeBytes,
  schedulers: { '': { endpoint: { address: std.extVar('SCHEDULER_CLIENTS') } } },
  executeAuthorizer: { allow: {} },
  contentAddressableStorage: files('cas', 8 * 1024 * 1024 * 1024, 3) {
    findMissingAuthorizer: { allow: {} },
  },
  // A result may be written again, and the last one counts: that needs a single new block.
  actionCache: files('ac', 1024 * 1024 * 1024, 1),
}

// bb_worker: fetches the inputs of actions and stores their outputs. The executable of heddle is
// fetched once and linked into the directory of each action.
local common = import 'common.libsonnet';
local dir = std.extVar('WORKER');

{
  blobstore: common.blobstore,
  maximumMessageSizeBytes: common.maximumMessageSizeBytes,
  scheduler: { address: std.extVar('SCHEDULER_WORKERS') },
  buildDirectories: [{
    native: {
      buildDirectoryPath: dir + '/build',
      cacheDirectoryPath: dir + '/cache',
      maximumCacheFileCount: 100000,
      maximumCacheSizeBytes: 4 * 1024 * 1024 * 1024,
      cacheReplacementPolicy: 'LEAST_RECENTLY_USED',
    },
    runners: [{
      endpoint: { address: 'unix://' + dir + '/runner' },
      concurrency: std.parseInt(std.extVar('CORES')),
      platform: { properties: [{ name: 'OSFamily', value: 'linux' }] },
      workerId: { worker: std.extVar('NAME') },
    }],
  }],
  inputDownloadConcurrency: 10,
  outputUploadConcurrency: 10,
  directoryCache: {
    maximumCount: 10000,
    maximumSizeBytes: 16 * 1024 * 1024,
    cacheReplacementPolicy: 'LEAST_RECENTLY_USED',
  },
}

// What the processes share. Addresses come from the environment, so that one set of files serves
// containers (compose.yaml) and processes on one machine (run.sh).
local storage = { grpc: { client: { address: std.extVar('STORAGE') } } };

{
  // Results name their outputs; one whose output is gone counts as absent.
  blobstore: {
    contentAddressableStorage: storage,
    actionCache: {
      completenessChecking: { backend: storage, maximumTotalTreeSizeBytes: 64 * 1024 * 1024 },
    },
  },
  maximumMessageSizeBytes: 4 * 1024 * 1024,
  // Whoever reaches a port may use it. Real deployments authenticate: docs/scale.md.
  open(address): [{ listenAddresses: [address], authenticationPolicy: { allow: {} } }],
}

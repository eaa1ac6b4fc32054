// bb_runner: starts the commands of actions.
local dir = std.extVar('WORKER');

{
  buildDirectoryPath: dir + '/build',
  grpcServers: [{ listenPaths: [dir + '/runner'], authenticationPolicy: { allow: {} } }],
}

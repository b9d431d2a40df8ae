import { startPrivateServer } from './private-server.mjs'
import { findPrograms } from './programs.mjs'

export const redis = {
  name: 'Redis',
  variable: 'FAULTBOARD_TEST_REDIS',
  debianPackage: 'redis-server',
  find: () => findPrograms('redis-server'),
  start(programs) {
    return startPrivateServer({
      name: 'Redis',
      command: ({ folder, port }) => [
        programs['redis-server'],
        ...['--port', String(port)],
        ...['--bind', '127.0.0.1'],
        ...['--dir', folder],
        ...['--save', ''],
        ...['--appendonly', 'no'],
      ],
      stopSignal: 'SIGKILL',
      url: (port) => `redis://127.0.0.1:${port}`,
    })
  },
}

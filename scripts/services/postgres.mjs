import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startPrivateServer } from './private-server.mjs'
import { findPrograms } from './programs.mjs'

export const postgres = {
  name: 'PostgreSQL',
  variable: 'FAULTBOARD_TEST_POSTGRES',
  dialect: 'postgres',
  debianPackage: 'postgresql',
  find: () => findPrograms('initdb', 'postgres'),
  start(programs) {
    const password = randomBytes(12).toString('hex')
    return startPrivateServer({
      name: 'PostgreSQL',
      prepare: async ({ folder, run }) => {
        const passwordFile = join(folder, 'password')
        await writeFile(passwordFile, password)
        await run(programs.initdb, [
          `--pgdata=${join(folder, 'data')}`,
          '--username=postgres',
          `--pwfile=${passwordFile}`,
          // Also stores the password as MD5. Verifying a SCRAM password takes 9 ms per connection.
          '--auth=md5',
          '--encoding=UTF8',
          '--locale=C',
          '--no-sync',
        ])
      },
      command: ({ folder, port }) => [
        programs.postgres,
        `-D${join(folder, 'data')}`,
        ...settings({
          port,
          listen_addresses: '127.0.0.1',
          unix_socket_directories: '',
          max_connections: 250,
          fsync: 'off',
          synchronous_commit: 'off',
          full_page_writes: 'off',
          // Hundreds of short-lived databases, each of which autovacuum would visit every minute.
          autovacuum: 'off',
          // Compiling a query takes longer than running it on a few rows.
          jit: 'off',
          logging_collector: 'off',
        }),
      ],
      stopSignal: 'SIGQUIT',
      url: (port) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    })
  },
}

function settings(values) {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`)
}

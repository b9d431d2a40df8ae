import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canInstall, install } from '../../scripts/services/debian.mjs'
import { mariadb } from '../../scripts/services/mariadb.mjs'
import { postgres } from '../../scripts/services/postgres.mjs'
import { startPrivateServer } from '../../scripts/services/private-server.mjs'

// Unlike the servers of the tests, these sync every commit to disk, as in production, for the bare driver and for
// Faultboard.
const POSTGRES = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  max_connections: 100,
}
const MARIADB = {
  'innodb-flush-log-at-trx-commit': '1',
  'innodb-flush-method': 'fsync',
  'innodb-doublewrite': 'ON',
  'innodb-log-file-size': '512M',
  'innodb-buffer-pool-size': '256M',
}

/** Durability settings, for the titles of the tables. */
export const DURABILITY = {
  sqlite: 'WAL, synchronous = normal',
  postgres: words(POSTGRES, 'fsync', 'synchronous_commit'),
  mysql: words(MARIADB, 'innodb-flush-log-at-trx-commit', 'innodb-flush-method'),
}

/** Starts a private server. Returns its URL, or the reason why there is none. */
export async function startServer(dialect) {
  const service = { postgres, mysql: mariadb }[dialect]
  if (!service.find() && canInstall()) await install([service.debianPackage])
  const programs = service.find()
  if (!programs)
    return { missing: `${service.name} was not found; install the Debian package ${service.debianPackage}` }
  const password = randomBytes(12).toString('hex')
  return startPrivateServer({ name: service.name, ...SERVERS[dialect](programs, password) })
}

const SERVERS = {
  postgres: (programs, password) => ({
    async prepare({ folder, run }) {
      const passwordFile = join(folder, 'password')
      await writeFile(passwordFile, password)
      await run(programs.initdb, [
        `--pgdata=${join(folder, 'data')}`,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=password',
        '--encoding=UTF8',
        '--locale=C',
      ])
    },
    command: ({ folder, port }) => [
      programs.postgres,
      `-D${join(folder, 'data')}`,
      `--port=${port}`,
      '--listen_addresses=127.0.0.1',
      '--unix_socket_directories=',
      ...flags(POSTGRES),
    ],
    stopSignal: 'SIGQUIT',
    url: (port) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
  }),
  mysql: (programs, password) => ({
    async prepare({ folder, run }) {
      const users = [
        `CREATE USER faultboard@'%' IDENTIFIED BY '${password}';`,
        "GRANT ALL PRIVILEGES ON *.* TO faultboard@'%';",
        '',
      ]
      await writeFile(join(folder, 'users.sql'), users.join('\n'))
      await run(programs['mariadb-install-db'], [
        '--no-defaults',
        `--datadir=${join(folder, 'data')}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        ...flags(MARIADB),
      ])
    },
    command: ({ folder, port }) => [
      programs.mariadbd,
      '--no-defaults',
      `--datadir=${join(folder, 'data')}`,
      `--tmpdir=${folder}`,
      `--init-file=${join(folder, 'users.sql')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--socket=mariadb.sock',
      '--skip-name-resolve',
      '--skip-log-bin',
      '--character-set-server=utf8mb4',
      ...flags(MARIADB),
    ],
    stopSignal: 'SIGKILL',
    url: (port) => `mysql://faultboard:${password}@127.0.0.1:${port}`,
  }),
}

function flags(settings) {
  return Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
}

function words(settings, ...names) {
  return names.map((name) => `${name} = ${settings[name]}`).join(', ')
}

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startPrivateServer } from './private-server.mjs'
import { findPrograms } from './programs.mjs'

// Options to create the data folder and to run on it. If they differed, InnoDB would rewrite its log on the first
// start.
const INNODB_OPTIONS = [
  '--innodb-flush-method=nosync',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-doublewrite=OFF',
  '--innodb-log-file-size=32M',
]

export const mariadb = {
  name: 'MariaDB',
  variable: 'FAULTBOARD_TEST_MYSQL',
  dialect: 'mysql',
  debianPackage: 'mariadb-server',
  find: () => findPrograms('mariadb-install-db', 'mariadbd'),
  start(programs) {
    const password = randomBytes(12).toString('hex')
    return startPrivateServer({
      name: 'MariaDB',
      prepare: async ({ folder, run }) => {
        await writeFile(join(folder, 'users.sql'), createUsersSql(password))
        await run(programs['mariadb-install-db'], [
          '--no-defaults',
          `--datadir=${join(folder, 'data')}`,
          '--auth-root-authentication-method=normal',
          '--skip-test-db',
          ...INNODB_OPTIONS,
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
        // Relative to the data folder, because a long temporary path exceeds the limit for socket names.
        '--socket=mariadb.sock',
        '--skip-name-resolve',
        '--max-connections=250',
        '--character-set-server=utf8mb4',
        '--collation-server=utf8mb4_unicode_ci',
        '--skip-log-bin',
        ...INNODB_OPTIONS,
      ],
      // The data is temporary, so an orderly shutdown is not needed.
      stopSignal: 'SIGKILL',
      url: (port) => `mysql://faultboard:${password}@127.0.0.1:${port}`,
    })
  },
}

function createUsersSql(password) {
  return [
    `CREATE USER faultboard@'%' IDENTIFIED BY '${password}';`,
    "GRANT ALL PRIVILEGES ON *.* TO faultboard@'%' WITH GRANT OPTION;",
    "DELETE FROM mysql.global_priv WHERE User = 'root';",
    'FLUSH PRIVILEGES;',
    '',
  ].join('\n')
}

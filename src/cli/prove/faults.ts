import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { promisify } from 'node:util'
import type { Database } from '../../store/database.js'

/** A failure of the database or the disk that starts and ends while a host runs. */
export interface Fault {
  /** Database of the host. */
  url: string
  begin(pid: number): Promise<void>
  end(pid: number): Promise<void>
  close(): void
}

/** The database does not respond: a lock on a SQLite file, or a server behind a proxy that discards all packets. */
export async function hangingDatabase(url: string, database: Database): Promise<Fault> {
  return database.dialect.isEmbedded ? lockedFile(url, database) : silentServer(url)
}

/**
 * Makes every file write of the host fail with EFBIG, even within the current size of the file. A small file system
 * would require root. A database server has its own disk, so its connections hang at the same time.
 */
export async function fullDisk(url: string, database: Database): Promise<Fault> {
  const hang = database.dialect.isEmbedded ? null : await silentServer(url)
  let usualLimit = 'unlimited'
  return {
    url: hang?.url ?? url,
    async begin(pid) {
      const { stdout } = await run('prlimit', ['--pid', String(pid), '--fsize', '--output=SOFT', '--noheadings'])
      usualLimit = stdout.trim()
      await run('prlimit', ['--pid', String(pid), '--fsize=0:'])
      await hang?.begin(pid)
    },
    async end(pid) {
      await run('prlimit', ['--pid', String(pid), `--fsize=${usualLimit}:`])
      await hang?.end(pid)
    },
    close: () => hang?.close(),
  }
}

/** Returns the reason why a full disk cannot be simulated, or null. */
export async function missingDiskLimit(): Promise<string | null> {
  const works = await run('prlimit', ['--version']).then(
    () => true,
    () => false,
  )
  return works ? null : 'prlimit (Linux, package util-linux) is not installed'
}

const run = promisify(execFile)

/** Holds the write lock of the file in an open transaction. */
function lockedFile(url: string, database: Database): Fault {
  let release = () => {}
  let transaction: Promise<void> = Promise.resolve()
  return {
    url,
    begin: () =>
      new Promise((locked, failed) => {
        transaction = database.write(async () => {
          locked()
          await new Promise<void>((resolve) => {
            release = resolve
          })
        })
        transaction.catch(failed)
      }),
    async end() {
      release()
      await transaction
    },
    close: () => release(),
  }
}

const DEFAULT_PORTS: Record<string, number> = {
  'postgres:': 5432,
  'postgresql:': 5432,
  'mysql:': 3306,
  'mariadb:': 3306,
}

async function silentServer(url: string): Promise<Fault> {
  const target = new URL(url)
  const address = {
    host: target.hostname || 'localhost',
    port: Number(target.port) || DEFAULT_PORTS[target.protocol] || 0,
  }
  const sockets = new Set<Socket>()
  let isSilent = false
  const proxy = createServer((client) => {
    const server = connect(address)
    let isDead = false
    const forward = (to: Socket) => (chunk: Buffer) => {
      // A connection with lost packets never recovers.
      isDead ||= isSilent
      if (!isDead) to.write(chunk)
    }
    client.on('data', forward(server))
    server.on('data', forward(client))
    const close = () => {
      for (const socket of [client, server]) sockets.delete(socket.destroy())
    }
    for (const socket of [client, server]) sockets.add(socket.on('close', close).on('error', close))
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  target.hostname = '127.0.0.1'
  target.port = String((proxy.address() as AddressInfo).port)
  return {
    url: target.href,
    async begin() {
      isSilent = true
    },
    async end() {
      isSilent = false
    },
    close() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

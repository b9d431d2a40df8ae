import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Settings } from '../../src/options.js'
import { startListening } from '../support/host.js'
import { temporaryFolder } from '../support/tracker.js'
import type { ContractHosts } from './contract-host.js'
import { type AdapterHarness, VARIANTS, type Variant } from './harness.js'

const PATHS = ['/ok', '/nowhere', '/sync', '/awaited', '/passed', '/missing'] as const

/** Paths that the tests of the capture visit in the same variants, comparing the responses. */
const CAPTURED_PATHS: Partial<Record<Variant, readonly string[]>> = {
  own_handler: ['/sync', '/awaited', '/passed', '/missing'],
  default_handler: ['/sync', '/awaited', '/passed', '/missing'],
  wrapped: ['/sync', '/awaited', '/passed'],
}

/** Unusable databases. None of them may affect the host. */
const BAD_DATABASES: Record<string, () => Promise<Settings>> = {
  'cannot be reached': async () => ({ database: 'postgres://user@127.0.0.1:1/none', spool_path: temporaryFolder() }),
  'accepts connections but does not respond': async () => ({
    database: `postgres://user@127.0.0.1:${await silentServer()}/none`,
    spool_path: temporaryFolder(),
  }),
  'file is not a database': async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'broken.sqlite3'), randomBytes(8192))
    return { database: `sqlite:${join(folder, 'broken.sqlite3')}`, spool_path: join(folder, 'spool') }
  },
}

/** Verifies that responses of the host do not depend on the state of the tracker. */
export function describeHarmlessness(harness: AdapterHarness, { start, shared, bare }: ContractHosts): void {
  for (const variant of VARIANTS.filter((name) => name !== 'failing_handler')) {
    if (!harness.unsupportedVariants?.[variant])
      test.each(PATHS.filter((path) => !CAPTURED_PATHS[variant]?.includes(path)))(
        `does not change the response to GET %s (${variant})`,
        async (path) => {
          const without = await (await bare(variant)).visit(path)
          expect(await (await shared(variant)).visit(path)).toEqual(without)
        },
      )
  }

  test.each(Object.keys(BAD_DATABASES))('does not change responses when the database %s', async (state) => {
    const without = await bare()
    const host = await start(await BAD_DATABASES[state]?.())
    for (const path of PATHS) expect(await host.visit(path)).toEqual(await without.visit(path))
  })

  test('does not change responses after the tracker was shut down', async () => {
    const without = await bare()
    const host = await start()
    await host.tracker.shutdown()
    for (const path of PATHS) expect(await host.visit(path)).toEqual(await without.visit(path))
  })

  if (!harness.unsupportedVariants?.default_handler)
    test('does not change responses of the framework after the tracker was shut down', async () => {
      const without = await bare('default_handler')
      const host = await start({}, 'default_handler')
      await host.tracker.shutdown()
      for (const path of PATHS) expect(await host.visit(path)).toEqual(await without.visit(path))
    })
}

async function silentServer(): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket.on('error', () => {})))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return new URL(await startListening(server as never)).port
}

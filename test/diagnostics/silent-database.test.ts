import { readdirSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../support/tracker.js'
import { project, REGISTER, run } from './swallowed/project.js'

/** Accepts connections and never responds, like a database behind a broken network. */
const sockets = new Set<Socket>()
const silent = createServer((socket) => {
  sockets.add(socket)
})
let url = ''

beforeAll(async () => {
  await new Promise<void>((resume) => silent.listen(0, '127.0.0.1', resume))
  url = `postgres://app:secret@127.0.0.1:${Object(silent.address()).port}/app`
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await new Promise((resume) => silent.close(resume))
})

const HOST = `
import { channel } from 'node:diagnostics_channel'
try { throw new RangeError('swallowed') } catch {}
channel('faultboard:request-guard').publish({ kind: 'throttle', rule: 'sign-in', ip_address: '192.0.2.1', path: '/' })
process.emitWarning('old', 'DeprecationWarning', 'OLD1')
console.log('done')
`

test('a host exits and spools its counts if the database does not respond', {
  timeout: 90_000,
}, async () => {
  const storage = { url, spool_path: temporaryFolder() }
  const folder = project({ 'host.mjs': HOST })
  const env = {
    FAULTBOARD_ENABLE_BREADCRUMBS: 'true',
    FAULTBOARD_ENABLE_REQUEST_GUARD_TRACKING: 'true',
    FAULTBOARD_ENABLE_DEPRECATION_TRACKING: 'true',
  }
  const { code, stdout } = await run({
    node: process.execPath,
    folder,
    args: ['--import', REGISTER, 'host.mjs'],
    storage,
    env,
  })
  expect([code, stdout]).toEqual([0, 'done\n'])
  const left = readdirSync(storage.spool_path).map((name) => name.replace(/-[\da-f-]+\.json$/, ''))
  expect(left.filter((name) => name.startsWith('sums-')).sort()).toEqual([
    'sums-faultboard_deprecation_hours',
    'sums-faultboard_request_guard_hours',
    'sums-faultboard_swallowed_exceptions',
  ])
})

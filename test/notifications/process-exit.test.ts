import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import { buildSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { NOTICES } from '../contract/notices.js'
import { CREDENTIALS, temporaryFolder } from '../support/tracker.js'

describe('an idle process', () => {
  let silent: Server
  let address = ''
  let visited = () => {}

  beforeAll(async () => {
    silent = createServer((socket) => {
      socket.on('error', () => {}).resume()
      visited()
    })
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
    address = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  })

  afterAll(() => new Promise((done) => silent.close(done)))

  test.each([
    ['chat', () => ({ enable_chat_notifications: true, chat_webhook_url: `http://${address}/` })],
    ['webhook', () => ({ webhook_url: `https://${address}/` })],
    [
      'email',
      () => ({
        enable_email_notifications: true,
        notification_email_recipients: ['ops@shop.example'],
        smtp_url: `smtp://${address}`,
      }),
    ],
  ] as const)('exits even if the receiver does not respond: %s', async (channel, settingsOf) => {
    const program = bundled('test/notifications/fixtures/send-and-go.ts')
    const orders = { channel, settings: { ...CREDENTIALS, ...settingsOf() }, notice: NOTICES.new }
    const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    visited = () => child.send('connected')
    const [output, [code]] = await Promise.all([readAll(child.stdout as Readable), once(child, 'close')])
    expect({ output, code }).toEqual({ output: 'gone', code: 0 })
  })
})

/** A folder from which the packages of the host resolve. */
function bundled(file: string): string {
  const folder = temporaryFolder()
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const outfile = join(folder, 'program.mjs')
  buildSync({ entryPoints: [file], outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm' })
  return outfile
}

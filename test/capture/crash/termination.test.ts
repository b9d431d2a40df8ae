import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Settings } from '../../../src/options.js'
import { CREDENTIALS, eventually, spoolIsEmpty, temporaryFolder, trackerAt } from '../../support/tracker.js'

const PROGRAM = fileURLToPath(new URL('../fixtures/term-host.mjs', import.meta.url))

interface HostInput {
  settings?: Settings
  has_handler: boolean
}

test('leaves the signal and open responses unchanged when SIGTERM has no handler', async () => {
  const untracked = await terminate({ has_handler: false })
  expect(untracked).toEqual({ code: null, signal: 'SIGTERM', body: 'begin ', isComplete: false })
  const { settings, crash_capture_path } = createPlace()
  for (const crashSettings of [{}, { crash_capture_path, detect_unclean_shutdown: true }]) {
    expect(await terminate({ has_handler: false, settings: { ...settings, ...crashSettings } })).toEqual(untracked)
  }
})

test("leaves the exit code and open responses to the host's SIGTERM handler and records its error", async () => {
  const untracked = await terminate({ has_handler: true })
  expect(untracked).toEqual({ code: 7, signal: null, body: 'begin end', isComplete: true })
  for (const async_logging of [false, true]) {
    const { settings, url, spool_path } = createPlace()
    expect(await terminate({ has_handler: true, settings: { ...settings, async_logging } })).toEqual(untracked)
    const { tracker } = trackerAt({ url, spool_path })
    await tracker.ready()
    await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    expect(await tracker.Queries.ErrorsList.call()).toMatchObject([
      { message: 'failed while shutting down', occurrence_count: 1 },
    ])
  }
})

function createPlace() {
  const folder = temporaryFolder()
  const url = `sqlite:${join(folder, 'errors.sqlite3')}`
  const spool_path = join(folder, 'spool')
  const settings: Settings = { ...CREDENTIALS, database: url, spool_path, application_name: 'shop' }
  return { url, spool_path, settings, crash_capture_path: join(folder, 'crashes') }
}

/** Sends SIGTERM while a request is open. Returns how the process and the response ended. */
async function terminate(input: HostInput) {
  const file = join(temporaryFolder(), 'input.json')
  writeFileSync(file, JSON.stringify(input))
  const child = spawn(process.execPath, [PROGRAM, file], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  await eventually(() => lines.length > 0, 'the server listens')
  const port = Number(lines[0]?.slice('port '.length))
  const request = get({ port, host: '127.0.0.1', path: '/open' })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let body = ''
  const ended = new Promise((resolve) => response.on('close', resolve))
  response.on('error', () => {}).on('data', (bytes) => (body += String(bytes)))
  await eventually(() => body === 'begin ', 'the response begins')
  child.kill('SIGTERM')
  const [code, signal] = await once(child, 'close')
  await ended
  return { code, signal, body, isComplete: response.complete }
}

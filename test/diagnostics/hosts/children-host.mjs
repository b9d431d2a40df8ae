// Shows an error page for each file until git has responded, then ends children in every way and stays alive.
import { fork, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { withFaultboard } from '../../../dist/adapters/node.js'
import { createTracker } from '../../../dist/index.js'

const { settings, files, member } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
await runHost()

async function runHost() {
  const tracker = createTracker(settings)
  const server = createServer(withFaultboard((_, response) => response.end(), tracker))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${server.address().port}/error_dashboard/errors`
  const authorization = `Basic ${btoa(`${settings.dashboard_username}:${settings.dashboard_password}`)}`
  const authors = await Promise.all(
    files.map(async (file) => {
      const { fail } = await import(file)
      const { id } = await tracker.report(fail())
      for (;;) {
        const response = await fetch(`${base}/${id}`, { headers: { authorization, accept: 'text/html' } })
        const html = /<p class="frame-author"[^>]*>(.*?)<\/p>/s.exec(await response.text())?.[1] ?? ''
        if (html && !html.includes('Loading Git history')) return html.replace(/<[^>]*>/g, '')
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
    }),
  )
  const watched = await endChildren()
  const left = await startChildren()
  await tracker.shutdown()
  const unwatched = await Promise.all(left.map(({ end }) => end()))
  console.log(JSON.stringify({ authors, watched, unwatched }))
  process.stdin.resume()
  process.stdin.on('end', () => process.exit())
}

async function endChildren() {
  const children = await startChildren()
  return Promise.all(children.map(({ end }) => end()))
}

/** Children that a signal from outside, the host itself or their own exit ends, and one that cannot start. */
function startChildren() {
  const sleep = () => spawn('sleep', ['600'])
  const isUp = (child) => new Promise((resolve) => child.once(child.send ? 'message' : 'spawn', resolve))
  const start = async (child, kill) => {
    const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)))
    await isUp(child)
    return {
      end: () => {
        kill(child)
        return ended
      },
    }
  }
  const missing = spawn('/no/such/program')
  const failed = new Promise((resolve) => missing.once('error', ({ code }) => resolve(code)))
  return Promise.all([
    ...['SIGKILL', 'SIGSEGV', 'SIGTERM'].map((signal) => start(sleep(), ({ pid }) => process.kill(pid, signal))),
    start(sleep(), (child) => child.kill('SIGKILL')),
    start(fork(member, { silent: true }), ({ pid }) => process.kill(pid, 'SIGKILL')),
    start(spawn('cat'), (child) => child.stdin.end()),
    { end: () => failed },
  ])
}

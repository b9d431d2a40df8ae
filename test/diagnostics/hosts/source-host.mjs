// Logs two errors of its own code. Requests the error page of the first until git has responded, and that of the second
// once while git hangs. Then exits.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { withFaultboard } from '../../../dist/adapters/node.js'
import { createTracker } from '../../../dist/index.js'

const { settings, file, never } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const tracker = createTracker(settings)
const server = createServer(withFaultboard((_, response) => response.end(), tracker))
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const { total, refund } = await import(file)
const authorization = `Basic ${btoa(`${settings.dashboard_username}:${settings.dashboard_password}`)}`

const shown = await loadPage(total, (page) => page.includes('code-keyword') && !page.includes('data-pending'))
// Reading an ignore-revs file from a pipe without a writer never ends.
execFileSync('git', ['-C', settings.project_root, 'config', 'blame.ignoreRevsFile', never])
const hanging = await loadPage(refund, () => true)
server.close()
console.log(JSON.stringify({ ...shown, hanging_author: hanging.author }))

/** Reports the error of a function and reads its page when it is complete. */
async function loadPage(failing, isComplete) {
  const { id } = await tracker.report(await failing([]).catch((error) => error))
  const address = `http://127.0.0.1:${server.address().port}/error_dashboard/errors/${id}`
  for (;;) {
    const response = await fetch(address, { headers: { authorization, accept: 'text/html', connection: 'close' } })
    const page = await response.text()
    if (page.includes('frame-author') && isComplete(page)) return readSource(page)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

function readSource(page) {
  const [, number, line] = /<mark class="line" data-line="(\d+)">(.*?)\n?<\/mark>/s.exec(page) ?? []
  const author = /<p class="frame-author"[^>]*>(.*?)<\/p>/s.exec(page)?.[1] ?? ''
  return { number: Number(number), line, author: author.replace(/<[^>]*>/g, '') }
}

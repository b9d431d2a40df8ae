// Logs an error of its own code and requests its error page, once or until git has responded. Then exits.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { withFaultboard } from '../../../dist/adapters/node.js'
import { createTracker } from '../../../dist/index.js'

const { settings, file, is_patient } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const tracker = createTracker(settings)
const server = createServer(withFaultboard((_, response) => response.end(), tracker))
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const { total } = await import(file)
const logged = await tracker.report(
  await total([]).then(
    () => null,
    (error) => error,
  ),
)
const address = `http://127.0.0.1:${server.address().port}/error_dashboard/errors/${logged.id}`
const authorization = `Basic ${btoa(`${settings.dashboard_username}:${settings.dashboard_password}`)}`
let page = ''
do {
  const answer = await fetch(address, { headers: { authorization, accept: 'text/html', connection: 'close' } })
  page = await answer.text()
} while (!page.includes('frame-author') || (is_patient && !isWhole(page)))
server.close()

function isWhole(html) {
  return html.includes('code-keyword') && !html.includes('data-pending')
}

const line = /<mark class="line" data-line="(\d+)">(.*?)\n?<\/mark>/s.exec(page) ?? []
const author = /<p class="frame-author"[^>]*>(.*?)<\/p>/s.exec(page)?.[1] ?? ''
const plain = (html) => html.replace(/<[^>]*>/g, '')
console.log(JSON.stringify({ number: Number(line[1]), line: line[2], author: plain(author) }))

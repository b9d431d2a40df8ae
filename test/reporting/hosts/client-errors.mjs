// Receives client errors with the source maps of their bundle, prints the recorded errors and exits.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createTracker } from '../../../dist/index.js'
import { reportingEndpoint } from '../../../dist/reporting/endpoint.js'

const { settings, source_map, bodies } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const tracker = createTracker(settings)
const reporting = reportingEndpoint({ tracker })
const server = createServer(reporting.node)
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
await tracker.Commands.StoreSourceMap.call(source_map)
const statuses = []
for (const body of bodies) {
  const { status } = await fetch(`http://127.0.0.1:${server.address().port}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(body),
  })
  statuses.push(status)
}
const errors = await tracker.Queries.ErrorsList.call()
console.log(JSON.stringify({ statuses, errors }))
server.close()

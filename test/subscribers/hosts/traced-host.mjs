// A traced application: one exception is only on its span, and a hook records the other too. Then the process is idle.
import { readFileSync } from 'node:fs'
import { trace } from '@opentelemetry/api'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { createTracker } from '../../../dist/index.js'
import { FaultboardSpanProcessor } from '../../../dist/subscribers/opentelemetry.js'

const tracker = createTracker(JSON.parse(readFileSync(process.argv[2], 'utf8')))
new NodeTracerProvider({ spanProcessors: [new FaultboardSpanProcessor({ tracker })] }).register()
const tracer = trace.getTracer('shop')

tracer.startActiveSpan('stays', (span) => {
  span.recordException(new TypeError('only on the span'))
  span.end()
})
tracer.startActiveSpan('goes on', (span) => {
  const error = new RangeError('on the span and reported')
  span.recordException(error)
  void tracker.report(error)
  span.end()
})

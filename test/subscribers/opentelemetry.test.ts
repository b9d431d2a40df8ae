import { createServer } from 'node:http'
import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { SpanProcessor } from '@opentelemetry/sdk-trace-base'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { capture } from '../../src/adapters/express.js'
import type { Settings } from '../../src/options.js'
import { FaultboardSpanProcessor, type SpanProcessorOptions } from '../../src/subscribers/opentelemetry.js'
import { describeOneDatabase, type TestDatabase } from '../support/databases.js'
import { startListening } from '../support/host.js'
import { freshTracker } from '../support/tracker.js'
import { recordsWithMessage } from '../support/trails.js'

describeOneDatabase('OpenTelemetry', (database) => {
  test('records an exception on a span in the same group as a hook would', async () => {
    const { tracker, processor, tracer } = await traced(database)
    const error = new RangeError('too many items')
    const span = tracer.startSpan('GET /cart', {
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/cart/:id',
        'url.full': 'https://shop.example/cart/7?token=s3cr3t',
        'user_agent.original': 'curl/8.5.0',
        'enduser.id': 'u-7',
        'app.password': 's3cr3t',
      },
    })
    span.recordException(error)
    span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
    await processor.forceFlush()
    const [found] = await recordsWithMessage(tracker, 'too many items')
    const { traceId, spanId } = span.spanContext()
    expect(found).toMatchObject({
      error_type: 'RangeError',
      severity: 'high',
      user_id: 'u-7',
      app_version: '3.1.0',
      request_url: 'https://shop.example/cart/7?token=[FILTERED]',
      user_agent: 'curl/8.5.0',
      request: { method: 'GET', route: '/cart/:id' },
      context: { span: { name: 'GET /cart', service: 'cart' } },
      details: { trace_id: traceId, span_id: spanId, source: 'opentelemetry' },
    })
    expect(JSON.stringify(found)).not.toContain('s3cr3t')
    await tracker.report(error)
    expect((await recordsWithMessage(tracker, 'too many items'))[0]?.occurrence_count).toBe(2)
  })

  test('counts an error recorded by a hook once, with its trace', async () => {
    const { tracker, processor, tracer } = await traced(database)
    const app = express()
    app.get('/pay', (_request, _response, next) =>
      tracer.startActiveSpan('pay', async (outer) => {
        const error = await tracer.startActiveSpan('charge', async (inner) => {
          const refused = Object.assign(new Error('card was refused'), { code: 'E_REFUSED' })
          inner.recordException(refused)
          inner.end()
          return refused
        })
        outer.recordException(error)
        next(error)
        outer.end()
      }),
    )
    app.use(capture(tracker))
    app.use((_error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
      response.status(500).end()
    })
    const server = createServer(app)
    onTestFinished(() => void server.close())
    await fetch(`${await startListening(server)}/pay`)
    await processor.forceFlush()
    const [found] = await recordsWithMessage(tracker, 'card was refused')
    expect(found).toMatchObject({ occurrence_count: 1, details: { source: 'express', code: 'E_REFUSED' } })
    expect(found?.details.trace_id).toMatch(/^[0-9a-f]{32}$/)
    expect(found?.details.span_id).toMatch(/^[0-9a-f]{16}$/)
    expect((await tracker.stats()).dropped).toEqual({ otel_already_recorded: 2 })
  })

  test('counts an error once if the process stalls before the report of its span', async () => {
    const { tracker, processor, tracer, clock } = await traced(database)
    await tracer.startActiveSpan('pay', async (span) => {
      const error = new Error('card has expired')
      await tracker.Commands.LogError.call({ exception: error })
      span.recordException(error)
      span.end()
    })
    clock.now = Date.now() + 10_000
    await processor.forceFlush()
    expect((await recordsWithMessage(tracker, 'card has expired'))[0]?.occurrence_count).toBe(1)
    expect((await tracker.stats()).dropped).toEqual({ otel_already_recorded: 1 })
  })

  test('counts an exception in nested spans once and each retry separately', async () => {
    const { tracker, processor, tracer } = await traced(database)
    tracer.startActiveSpan('request', (request) => {
      for (const attempt of ['first', 'second']) {
        tracer.startActiveSpan('job', (job) => {
          const error = new Error('queue is full')
          tracer.startActiveSpan(attempt, (span) => {
            span.recordException(error)
            span.end()
          })
          job.recordException(error)
          job.end()
        })
      }
      request.end()
    })
    await processor.forceFlush()
    expect((await recordsWithMessage(tracker, 'queue is full'))[0]?.occurrence_count).toBe(2)
  })
})

describe('the span processor', () => {
  const sqlite: Pick<TestDatabase, 'dialect' | 'fresh'> = { dialect: 'sqlite', fresh: async () => 'sqlite::memory:' }

  test('adds the active trace to manual reports and accepts a given trace', async () => {
    const { tracker, tracer } = await traced(sqlite)
    const span = tracer.startSpan('job')
    await context.with(trace.setSpan(context.active(), span), () =>
      tracker.Commands.LogError.call({ error_type: 'JobFailed', message: 'by hand' }),
    )
    const given = { trace_id: 'AB'.repeat(16), span_id: 'cd'.repeat(8) }
    await tracker.Commands.LogError.call({ error_type: 'JobFailed', message: 'as given', ...given })
    await tracker.Commands.LogError.call({ error_type: 'JobFailed', message: 'nonsense', trace_id: '"><script>' })
    const [by_hand] = await recordsWithMessage(tracker, 'by hand')
    expect(by_hand?.details).toMatchObject({ trace_id: span.spanContext().traceId, span_id: span.spanContext().spanId })
    expect((await recordsWithMessage(tracker, 'as given'))[0]?.details).toMatchObject({ trace_id: 'ab'.repeat(16) })
    expect((await recordsWithMessage(tracker, 'nonsense'))[0]?.details.trace_id).toBeUndefined()
    span.end()
  })

  test('records only accepted exceptions and sends the rest at shutdown', async () => {
    const { tracker, provider, tracer } = await traced(sqlite, { accept: ({ message }) => message !== 'expected' })
    for (const message of ['expected', 'unexpected']) {
      const span = tracer.startSpan('work')
      span.recordException(new Error(message))
      span.recordException(`${message} as text`)
      span.end()
    }
    await provider.shutdown()
    await tracker.flush()
    const errors = await tracker.Queries.ErrorsList.call()
    expect(errors.map(({ message }) => message).sort()).toEqual([
      'expected as text',
      'unexpected',
      'unexpected as text',
    ])
  })

  test('never throws into the host if its callback or the tracker fails', async () => {
    const { tracker, tracer, lines } = await traced(sqlite, {
      accept: () => {
        throw new Error('callback')
      },
    })
    const fail = () => {
      const span = tracer.startSpan('work')
      span.recordException(new Error('lost'))
      span.end()
    }
    expect(fail).not.toThrow()
    await tracker.shutdown()
    expect(fail).not.toThrow()
    expect(lines.join('')).toContain('callback')
  })

  test('records nothing if the subscriber is off', async () => {
    const { tracker, processor, tracer } = await traced(sqlite, {}, { enable_error_subscriber: false })
    const span = tracer.startSpan('work')
    span.recordException(new Error('unseen'))
    span.end()
    await processor.forceFlush()
    expect(await tracker.Queries.ErrorsList.call()).toEqual([])
  })
})

/** A tracker, and OpenTelemetry's own SDK with the processor in it. */
async function traced(
  database: Pick<TestDatabase, 'dialect' | 'fresh'>,
  options: SpanProcessorOptions = {},
  settings: Settings = {},
) {
  const parts = await freshTracker(database, settings)
  parts.clock.now = null
  const processor: SpanProcessor = new FaultboardSpanProcessor({ tracker: parts.tracker, ...options })
  const resource = resourceFromAttributes({ 'service.name': 'cart', 'service.version': '3.1.0' })
  const provider = new NodeTracerProvider({ resource, spanProcessors: [processor] })
  provider.register()
  onTestFinished(async () => {
    trace.disable()
    context.disable()
    await provider.shutdown()
  })
  return { ...parts, processor, provider, tracer: provider.getTracer('test') }
}

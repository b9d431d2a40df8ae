import { describe, expect, test } from 'vitest'
import { traceLink } from '../../../../src/dashboard/pages/error/occurrence/trace.js'
import { describeOneDatabase } from '../../../support/databases.js'
import { freshTracker } from '../../../support/tracker.js'

const TRACE = { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', span_id: '00f067aa0ba902b7' }
const TEMPLATE = 'https://traces.example/trace/{trace_id}?span={span_id}'

describeOneDatabase('the page of an error within a trace', (database) => {
  test.each([
    [TEMPLATE, `href="https://traces.example/trace/${TRACE.trace_id}?span=${TRACE.span_id}"`],
    [null, `<code>${TRACE.trace_id}</code>`],
  ])('shows the trace with the template %s', async (trace_url_template, shown) => {
    const { tracker } = await freshTracker(database, { trace_url_template })
    const logged = await tracker.Commands.LogError.call({ error_type: 'E', message: 'm', ...TRACE })
    const headers = { authorization: `Basic ${btoa('admin:correct horse')}`, accept: 'text/html' }
    const path = `/errors/${logged?.id}`
    const page = await tracker.handle(new Request(`http://host${path}`, { headers }), {
      base: '',
      path,
      remote_address: '127.0.0.1',
    })
    const html = await page.text()
    expect(html).toContain(shown)
    expect(html.includes('Open trace')).toBe(trace_url_template !== null)
  })
})

describe('the link to a trace', () => {
  test('contains ids only', () => {
    expect(traceLink(TEMPLATE, { trace_id: '"><script>' })).toBeNull()
    expect(traceLink(TEMPLATE, { trace_id: ['a'] })).toBeNull()
    expect(traceLink(TEMPLATE, { ...TRACE, span_id: '../..' })).toBe(
      `https://traces.example/trace/${TRACE.trace_id}?span=`,
    )
    expect(traceLink(null, TRACE)).toBeNull()
  })

  test('accepts http and https templates only', async () => {
    const template = (trace_url_template: string) =>
      freshTracker({ dialect: 'sqlite', fresh: async () => 'sqlite::memory:' }, { trace_url_template })
    await expect(template('javascript:alert({trace_id})')).rejects.toThrow('http:// or https://')
    await expect(template('https://traces.example/')).rejects.toThrow('{trace_id}')
  })
})

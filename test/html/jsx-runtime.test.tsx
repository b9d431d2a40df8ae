import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { raw } from '../../src/html/jsx-runtime.js'

const HOSTILE = `<script>alert("1")</script> & 'x'`
const ESCAPED = '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;'

test('escapes text and attribute values', () => {
  expect(String(<p title={HOSTILE}>{HOSTILE}</p>)).toBe(`<p title="${ESCAPED}">${ESCAPED}</p>`)
})

test('escapes text in lists, fragments and results of components', () => {
  const Text = () => HOSTILE
  const html = String(
    <>
      {[HOSTILE]}
      {HOSTILE}
      <Text />
    </>,
  )
  expect(html).toBe(ESCAPED.repeat(3))
})

test('escapes values that are neither text nor elements', () => {
  const disguised = { text: '<b>', isEscaped: true, toString: () => '<b>' }
  expect(String(<p>{disguised}</p>)).toBe('<p>&lt;b&gt;</p>')
})

test('renders elements and raw HTML without escaping them again', () => {
  expect(String(<p>{[<b>bold</b>, raw('<i>&amp;</i>')]}</p>)).toBe('<p><b>bold</b><i>&amp;</i></p>')
})

test('omits empty values but renders zero', () => {
  expect(
    String(
      <p title={undefined} class="">
        {null}
        {undefined}
        {false}
        {true}
        {''}
        {0}
      </p>,
    ),
  ).toBe('<p class="">0</p>')
})

test('renders boolean attributes as present or absent, and other attributes with their value', () => {
  expect(String(<input checked disabled={false} aria-invalid={false} data-row tabindex={-1} />)).toBe(
    '<input checked="" aria-invalid="false" data-row="true" tabindex="-1"/>',
  )
})

test('passes properties and children to components', () => {
  const Panel = ({ title, children }: { title: string; children: unknown }) => (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  )
  expect(
    String(
      <Panel title="Trend">
        <p>one</p>
        <p>two</p>
      </Panel>,
    ),
  ).toBe('<section><h2>Trend</h2><p>one</p><p>two</p></section>')
})

test('keeps the order of asynchronous components', async () => {
  const After = async ({ turns, text }: { turns: number; text: string }) => {
    for (let i = 0; i < turns; i++) await turn()
    return text
  }
  const html = await (
    <ul>
      <li>first</li>
      <li>
        <After turns={3} text="<slow>" />
      </li>
      {['a', <After turns={1} text="fast" />, 'b']}
      <li>last</li>
    </ul>
  )
  expect(String(html)).toBe('<ul><li>first</li><li>&lt;slow&gt;</li>afastb<li>last</li></ul>')
})

test('rejects if an asynchronous component fails', async () => {
  const Failing = async () => {
    throw new Error('no data')
  }
  await expect(
    <p>
      <Failing />
      <Failing />
    </p>,
  ).rejects.toThrow('no data')
})

test('leaves no unhandled rejection if another component fails first', async () => {
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  onTestFinished(() => void process.off('unhandledRejection', unhandled))
  const Late = async () => {
    await turn()
    throw new Error('no data')
  }
  const Broken = (): string => {
    throw new Error('broken view')
  }
  const view = () => (
    <ul>
      <li>
        <Late />
      </li>
      <Broken />
    </ul>
  )
  expect(view).toThrow('broken view')
  for (let i = 0; i < 3; i++) await turn()
  expect(unhandled).not.toHaveBeenCalled()
})

import { expect, test } from 'vitest'
import { Markdown } from '../../../../src/dashboard/pages/error/markdown.js'

/** HTML without the element around it. */
async function html(text: string): Promise<string> {
  const rendered = String(await Markdown({ text }))
  return rendered.replace(/^<div class="markdown">(.*)<\/div>$/s, '$1')
}

const p = (content: string) => `<p dir="auto">${content}</p>`
const link = (url: string, label = url) => `<a href="${url}" rel="noreferrer noopener">${label}</a>`

test('renders a small subset of Markdown', async () => {
  for (const [text, expected] of [
    ['one\ntwo\n\nthree', p('one\ntwo') + p('three')],
    ['**bold** *italic* _also_ `co**de`', p('<strong>bold</strong> <em>italic</em> <em>also</em> <code>co**de</code>')],
    ['**see `x`**', p('<strong>see <code>x</code></strong>')],
    [
      '- a\n- b\n\n1. c\n2) d',
      '<ul><li dir="auto">a</li><li dir="auto">b</li></ul><ol><li dir="auto">c</li><li dir="auto">d</li></ol>',
    ],
    [
      'a\n```js\n<b> **x**\n\n- y\n```\nb',
      `${p('a')}<pre dir="ltr" tabindex="0">&lt;b&gt; **x**\n\n- y</pre>${p('b')}`,
    ],
    ['```\nopen', '<pre dir="ltr" tabindex="0">open</pre>'],
    ['[fix](https://git.example/1?a=1&b=2)', p(link('https://git.example/1?a=1&amp;b=2', 'fix'))],
    ['See https://git.example/a_b_c.', p(`See ${link('https://git.example/a_b_c')}.`)],
    // Plain text with the same characters.
    ['snake_case_name, 2 * 3 * 4, **, a*b*c', p('snake_case_name, 2 * 3 * 4, **, a*b*c')],
  ] as const)
    expect(await html(text), text).toBe(expected)
})

test('escapes hostile text and links to http and https only', async () => {
  for (const [text, expected] of [
    ['<img src=x onerror=alert(1)>', p('&lt;img src=x onerror=alert(1)&gt;')],
    ['`<script>`', p('<code>&lt;script&gt;</code>')],
    ['**<b onclick=x>**', p('<strong>&lt;b onclick=x&gt;</strong>')],
    ['[x](javascript:alert(1))', p('[x](javascript:alert(1))')],
    ['[x](data:text/html,y) [x](//evil.example)', p('[x](data:text/html,y) [x](//evil.example)')],
    [
      '[x](https://a.example/"onmouseover="alert(1))',
      p(`[x](${link('https://a.example/')}&quot;onmouseover=&quot;alert(1))`),
    ],
    ['[x](https://a.example/"onclick="y)', p(link('https://a.example/&quot;onclick=&quot;y', 'x'))],
    ['[<img>](https://a.example/)', p(link('https://a.example/', '&lt;img&gt;'))],
    ["https://a.example/'onclick='x", p(`${link('https://a.example/')}&#39;onclick=&#39;x`)],
    ['```"><script>alert(1)</script>\n</pre><script>', '<pre dir="ltr" tabindex="0">&lt;/pre&gt;&lt;script&gt;</pre>'],
  ] as const)
    expect(await html(text), text).toBe(expected)
})

test('takes linear time for hostile text', async () => {
  const started = process.cpuUsage()
  for (const unit of [
    '*',
    '**a ',
    '_',
    '_a ',
    '`',
    '[',
    '[a](',
    '[a](https://',
    'https://.',
    '- ',
    '``` ',
    '**a',
    '* ',
  ])
    await html(unit.repeat(10_000 / unit.length))
  await html(`https://${'.'.repeat(10_000)}x ${'.'.repeat(10_000)}`)
  await html(`**a${' '.repeat(10_000)}`)
  const { user, system } = process.cpuUsage(started)
  expect((user + system) / 1000).toBeLessThan(2000)
})

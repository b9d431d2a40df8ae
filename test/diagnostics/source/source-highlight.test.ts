// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are code

import { describe, expect, test } from 'vitest'
import { openConstruct } from '../../../src/diagnostics/source/open-construct.js'
import { highlightLines, type SourcePart } from '../../../src/diagnostics/source/source-highlight.js'

const kindsOf = (parts: readonly (readonly SourcePart[])[]) =>
  parts.flat().flatMap(([text, kind]) => (kind ? [[text, kind]] : []))

async function coloured(code: string, file = 'a.ts', before = '') {
  const lines = code.split('\n')
  const parts = await highlightLines(lines, { file, before })
  expect(parts.map((line) => line.map(([text]) => text).join(''))).toEqual(lines)
  return kindsOf(parts)
}

describe('highlighted source', () => {
  test('highlighted source has a class for each token type', async () => {
    expect(await coloured("const total = 12 // all\nthrow new CartError('empty')")).toEqual([
      ['const', 'keyword'],
      ['12', 'number'],
      ['// all', 'comment'],
      ['throw', 'keyword'],
      ['new', 'keyword'],
      ['CartError', 'type'],
      ["'empty'", 'text'],
    ])
  })

  test.each([
    ['a.js', 'return 1', 'return', 'keyword'],
    ['a.mts', 'interface A {}', 'interface', 'keyword'],
    ['a.jsx', 'return 1', 'return', 'keyword'],
    ['a.vue', '<b class="x">', '"x"', 'text'],
    ['a.graphql', 'type Cart { id: ID }', 'type', 'keyword'],
    ['a.coffee', '# say', '# say', 'comment'],
  ])('supports %s: %s', async (file, code, word, kind) => {
    expect(await coloured(code, file)).toContainEqual([word, kind])
  })

  test('highlighted source has no tokens in unknown languages', async () => {
    expect(await coloured('let a = 1', 'a.elm')).toEqual([])
  })

  test('highlighted source may start inside a comment or template', async () => {
    expect(await coloured('still\n*/ const', 'a.ts', '/* it is')).toEqual([
      ['still', 'comment'],
      ['*/', 'comment'],
      ['const', 'keyword'],
    ])
    expect(await coloured('if ${x} then`\nreturn', 'a.ts', 'const a = `first')).toEqual(
      [
        ['if ', 'text'],
        ['${', 'text'],
        ['}', 'text'],
        [' then`', 'text'],
        ['return', 'keyword'],
      ].filter(([text]) => !['${', '}'].includes(text ?? '')),
    )
    expect(await coloured('const a = 1', 'a.vue', '<template/>\n<script setup lang="ts">\nlet b')).toContainEqual([
      'const',
      'keyword',
    ])
  })

  test.each([
    '</pre><script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '"unclosed',
    '`${`${`${`',
    '/* never closed',
    '&lt;&amp;\u2028\u0000',
    '\\'.repeat(399),
    '<'.repeat(400),
    '/['.repeat(200),
  ])('keeps every character: %j', async (line) => {
    for (const file of ['a.js', 'a.tsx', 'a.vue', 'a.graphql']) await coloured(`${line}\n${line}`, file, `${line}\n`)
  })
})

describe('the open construct before a line', () => {
  test.each([
    ['', 'a()'],
    ['`', 'a = `x'],
    ['', 'a = `x`'],
    ['`', 'a = `x ${ { b: 1 } } y'],
    ['', 'a = `x ${ f('],
    ['`', 'a = `x ${ `y` } z'],
    ['`', 'a = `x ${ `inner'],
    ['/*', '/* `'],
    ['', '/* ` */'],
    ['', '// `\n'],
    ['', "a = '`'"],
    ['', 'a = "/*"'],
    ['', 'a = /`/'],
    ['', 'a.match(/[`/]/g)'],
    ['`', 'a / b / `'],
    ['', "it's // not closed\nb"],
    ['', 'a = `\\``'],
    ['', `a = \`${'x'.repeat(200_001)}`],
  ])('the open construct before a line is %j in %j', (open, code) => {
    expect(openConstruct(code)).toBe(open)
  })

  test('the open construct before a line is found in linear time in hostile code', () => {
    for (const text of ['=/[', '`${', '"\\', '/*', '=/', '`${{'].map((part) => `${part.repeat(600)}\n`.repeat(100))) {
      expect(['', '/*', '`']).toContain(openConstruct(text.slice(0, 199_000)))
    }
  })
})

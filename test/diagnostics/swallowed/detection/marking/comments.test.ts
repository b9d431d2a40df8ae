import { runInThisContext } from 'node:vm'
import { parse, tokenizer } from 'acorn'
import { describe, expect, test } from 'vitest'
import { transform } from '../../../../../src/diagnostics/swallowed/detection/marking/transform.js'

/** Each snippet stores its result in `out`. */
const SNIPPETS = [
  'const o = { catch: (f) => f(1), then: (a, f) => f(2) }; out = o.catch(e => e) + o.catch((e) => (e, 7)) + o.then(0, () => 5)',
  "const o = { catch: (f) => f(1) }; out = [o.catch(e => ({ a: e })), o.catch(function (e) { 'use strict'; return e })]",
  'const o = { catch: (f) => typeof f(1) }; out = o.catch(async () => 1) + o.catch(async e => e) + o.catch(async function n() { return 1 })',
  "try { throw new Error('x') } catch { out = 1 }",
  'try { throw { a: 1, b: [2] } } catch ({ a, b: [c = 3] }) { out = a + c }',
  'try { throw (1, 2) } catch (e) { out = e; try { throw e } catch (f) { out += f } }',
  "function f() { if (1) throw 1; else throw 2 } try { f() } catch (e) { out = e } finally { out += 'f' }",
  'const h = (e) => e; const o = { catch: (f) => f(1) }; out = o.catch(h) + o.catch(true ? h : 0) + o?.catch(h || 1)',
  'try { try { throw 1 } catch (e) { { let e = 4; out = e } throw [e] } } catch ([f]) { out += f }',
  'const o = { catch: (f) => f(1), then: (a, f) => f(2) }; out = o.catch(e => o.then(x => x, y => o.catch(() => e + y)))',
]
const COMMENTS = [
  '/*=>*/',
  '/*(*/',
  '/*){;*/',
  '/*throw catch(e){*/',
  ' //=>\n',
  ' //(\n',
  ' //){;\n',
  '\n',
  ' /*\n=>*/ ',
]

describe('marked code with a comment before any token', () => {
  test.each(SNIPPETS)('returns the same result: %s', (snippet) => {
    const variants = [...tokenizer(snippet, { ecmaVersion: 'latest' })]
      .flatMap(({ start }) => COMMENTS.map((comment) => snippet.slice(0, start) + comment + snippet.slice(start)))
      .filter(doesParse)
    expect(variants.length).toBeGreaterThan(100)
    for (const code of variants) {
      const marked = transform(code, { file: '/app/a.js', root: '/app', types: ['commonjs'] })?.code ?? 'nothing'
      expect(marked.split('\n')).toHaveLength(code.split('\n').length)
      expect(resultOf(marked), marked).toEqual(resultOf(code))
    }
  })
})

function doesParse(code: string): boolean {
  try {
    parse(code, { ecmaVersion: 'latest' })
    return true
  } catch {
    return false
  }
}

function resultOf(code: string): unknown {
  return runInThisContext(`(() => { let out; ${code}\n; return out })()`)
}

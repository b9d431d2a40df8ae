import { readdirSync, readFileSync } from 'node:fs'
import { createContext, runInContext, Script } from 'node:vm'
import { parse } from 'acorn'
import { describe, expect, test } from 'vitest'
import {
  markedColumn,
  originalColumn,
  type ShiftedLines,
} from '../../../../../src/diagnostics/swallowed/detection/marking/shifted-lines.js'
import type { SourceType } from '../../../../../src/diagnostics/swallowed/detection/marking/syntax.js'
import { transform } from '../../../../../src/diagnostics/swallowed/detection/marking/transform.js'

const LINES = /\r\n|[\n\r\u2028\u2029]/

function marked(code: string, types: SourceType[] = ['commonjs']): string | null {
  return transform(code, { file: '/app/a.js', root: '/app', types })?.code ?? null
}

/** Runs the code in another realm, where the globals of the marks do not exist. */
function resultOf(code: string): unknown {
  return runInContext(code, createContext({}))
}

/** Expressions that throw or catch. Marks must not change their results. */
const SNIPPETS = [
  "(() => { try { throw new Error('x') } catch (e) { return e.message } })()",
  '(() => { try { throw 1 } catch { return 2 } finally { throw_ = 3 } })(); var throw_',
  '(() => { try { throw { a: [1, 2], b: 3 } } catch ({ a: [first, ...rest], b = 4, c = 5 }) { return [first, rest, b, c] } })()',
  '(() => { try { throw (1, 2) } catch (e) { return e } })()',
  '(() => { try { throw 1, 2 } catch (e) { return e } })()',
  '(() => { try { throw/x/ } catch (e) { return e.source } })()',
  '(() => { try { throw{ a: 1 } } catch (e) { return e.a } })()',
  '(() => { try { throw[1] } catch (e) { return e } })()',
  '(() => { try { throw`x` } catch (e) { return e } })()',
  '(() => { try { throw(function () { return 5 })() } catch (e) { return e } })()',
  '(() => { try { if (0) throw 1; else throw 2 } catch (e) { return e } })()',
  '(() => { try { if (1) throw 1\nelse throw 2 } catch (e) { return e } })()',
  '(() => { try { throw 1 // a comment\n; } catch (e) { return e } })()',
  '(() => { try { throw /* [ */ 1 /* ] */ } catch (e) { return e } })()',
  '(() => { try { throw a = 7 } catch (e) { return e + a } var a })()',
  '(() => { try { throw () => 8 } catch (e) { return e() } })()',
  '(() => { label: try { throw 1 } catch (e) { break label } return 9 })()',
  '(() => { try { throw 1 } catch (e) { try { throw e } catch { return e } } })()',
  '(() => { try { throw 1 } catch (e) { var e = 2; return e } })()',
  '(() => { try { throw 1 } catch (e) { let f = e; { let e = 3; f += e } return f } })()',
  '[...(function* () { try { yield 1; throw 2 } catch (e) { yield e } })()]',
  'new (class { static #p = 1; static { try { throw 4 } catch { this.q = this.#p } } m() { try { throw this } catch (t) { return t === this } } })().m()',
  "(function () { 'use strict'; try { throw this } catch (e) { return e } })()",
  "({ catch: (f) => f }).catch('a value')",
  '({ catch: (f) => f({ message: 1 }) }).catch(({ message }) => message)',
  '({ catch: (f) => f(1, 2) }).catch((a, b = 3) => a + b)',
  '({ catch: (...f) => f.length }).catch(...[1, 2])',
  '({ then: (a, f) => f(5) }).then(null, (e) => ({ e }))',
  '({ then: (a, f) => f(5) }).then(null, e => /* => */ e)',
  '({ catch: (f) => f(1) }).catch(function () { "use strict"; return this === undefined && arguments.length })',
  '({ catch: (f) => f(1) }).catch(function named() { return typeof named })',
  "({ catch: (f) => f(1) }).catch(function () { 'use strict'\nreturn this })",
  '({ catch: (f) => [...f(1)] }).catch(function* () { yield 1 })',
  '({ catch: (f) => f(2) }).catch((x => y => x + y)(1))',
  '({ catch: (f) => f(2) })?.catch?.(Number)',
  '({ catch: (f) => String(f) }).catch(undefined)',
  "({ catch: (f) => f(1) }).catch((e) => e ? 'yes' : 'no')",
  "'a</script><!-- throw --> catch (e) {'",
  '(() => { const status = 5; try { throw {} } catch ({ code = status }) { const status = 7; return code + status } })()',
  '(() => { let key = "a"; try { throw { a: 1 } } catch ({ [key]: b }) { let key = 2; return b + key } })()',
  '(() => { try { try { throw 1 } catch (e) { { let e = 2 } e = 3; throw e } } catch (f) { return f } })()',
  '(() => { try { try { throw 1 } catch ({ a }) { throw a === undefined } } catch (f) { return f } })()',
  '(() => { try { try { throw 1 } catch { try { throw 2 } finally { throw 3 } } } catch (f) { return f } })()',
  '({ catch: (f) => { try { f(1) } catch (e) { return e } } }).catch(function (e) { "use strict"; var e = e + 1; throw [e] })',
  '({ catch: (f) => f(1) }).catch((e) => // e =>\n e)',
  '({ catch: (f) => f(1) }).catch((e /* => */) => /* ( => */ (e))',
  '((root = globalThis) => { try { throw root } catch (e) { return e === globalThis } })()',
]

describe('marked code', () => {
  test.each(SNIPPETS)('marked code returns the same result on the same lines: %s', (code) => {
    const out = marked(code) ?? code
    expect(out.split(LINES)).toHaveLength(code.split(LINES).length)
    expect(JSON.stringify(resultOf(out))).toBe(JSON.stringify(resultOf(code)))
  })

  test('marked code returns the same result when it is evaluated from text', () => {
    const source = 'function f(x) { try { if (x) throw new Error(x); return 1 } catch { return 2 } }\nString(f)'
    const text = String(new Script(marked(source) ?? '').runInThisContext())
    expect(text).toContain('__faultboard_')
    expect(resultOf(`(${text})(1)`)).toBe(2)
  })

  test.each<[string, SourceType, string]>([
    ['a hashbang', 'commonjs', '#!/usr/bin/env node\ntry { a() } catch {}\n'],
    ['HTML-like comments', 'commonjs', '<!-- one\ntry { a() } catch {}\n--> two\n'],
    ['directives', 'commonjs', "'use strict'\ntry { a() } catch {}\n"],
    ['top-level await', 'module', 'try { await a } catch { throw await b }\n'],
    ['import attributes', 'module', "import x from './x.json' with { type: 'json' }\ntry { x() } catch {}\n"],
    ['top-level return', 'commonjs', 'try { a() } catch { return }\n'],
    ['Windows line endings', 'commonjs', 'try {\r\n  a()\r\n} catch {\r\n}\r\n'],
  ])('marked code keeps %s', (_title, type, code) => {
    const out = marked(code, [type])
    expect(out).toContain('__faultboard_caught')
    expect(out?.split(LINES)).toHaveLength(code.split(LINES).length)
    expect(out?.split('\n')[0]?.slice(0, 3)).toBe(code.slice(0, 3))
    expect(() => parse(out ?? '', { ecmaVersion: 'latest', sourceType: type as 'module' })).not.toThrow()
  })

  test.each([
    ['nothing to mark', 'const a = 1'],
    ['a syntax error', 'try { catch'],
    ['types', 'const a: number = 1; throw a'],
    ['JSX', 'const a = <p>{() => { throw 1 }}</p>'],
    ['reserved names', 'const __faultboard_caught = 1; throw 1'],
    ['a globalThis variable', 'var globalThis = {}; throw 1'],
    ['globalThis as a parameter', '(function (globalThis) { throw 1 })()'],
    ['globalThis as an arrow parameter', '(...[{ a: [globalThis = 1] }]) => { throw 1 }'],
    ['a destructured globalThis', 'const { globalThis } = {}; throw 1'],
    ['globalThis as a catch parameter', 'try { a() } catch (globalThis) { throw 1 }'],
    ['globalThis as a class name', '(class globalThis { static { throw 1 } })'],
    ['an escaped globalThis', 'function f(glob\\u0061lThis) { throw 1 }'],
    ['a with statement', 'with (a) { throw 1 }'],
    ['a carriage return as a line break', 'throw 1\r'],
    ['a line separator', 'throw "\u2028"'],
  ])('does not mark code with %s', (_title, code) => {
    expect(marked(code)).toBeNull()
  })

  test.each(["import globalThis from 'a'", "import { a as globalThis } from 'a'", "import * as globalThis from 'a'"])(
    'does not mark a module with %s',
    (line) => {
      expect(marked(`${line}; throw 1`, ['module'])).toBeNull()
    },
  )

  test('marked code is discarded if the marks break its syntax', () => {
    const map = { find: () => null, withShiftedMap: (code: string) => `${code} }` }
    expect(transform('throw 1', { file: '/app/a.js', root: '/app', types: ['commonjs'], map })).toBeNull()
  })

  test('marked code contains locations and kinds of handlers', () => {
    const code = `const NONE = new Error('none')
try {
  a()
} catch (e) {
  console.error(e)
}
p.catch(next).then(b, () => {})
try { a() } catch (e) { throw NONE }
try { a() } catch { return 1 }
try { a() } catch (e) { fallback(e) }`
    const marks = [...(marked(code)?.matchAll(/"(a\.js:[^"]*)"/g) ?? [])].map(([, mark]) => mark)
    expect(marks).toEqual([
      'a.js:4:3#logs',
      'a.js:7:9#may_report@promise',
      'a.js:7:23#empty@promise',
      'a.js:8:13#may_rethrow',
      'a.js:8:25#constant',
      'a.js:9:13#value',
      'a.js:10:13#other',
    ])
  })

  test('keeps the columns of expressions in stacks for commonly formatted code', () => {
    const code = `async function f(a) {
  try {
    await a.b(c)
  } catch (error) {
    throw new Error(d(error), { cause: error })
  }
  await g().catch((error) => log(error))
}`
    const out = marked(code) ?? ''
    for (const call of ['a.b(', 'new Error', 'd(error)', 'g()', 'log(']) {
      const [before, after] = [code, out].map((text) => {
        const line = text.split('\n').findIndex((text) => text.includes(call))
        return `${line}:${text.split('\n')[line]?.indexOf(call)}`
      })
      expect(after).toBe(before)
    }
  })

  test('columns of marked code convert back to the original columns', () => {
    const lines = shiftedLinesOf('a(); p.catch(h); try { b() } catch ({ message }) { throw(c) }; d()\nplain()')
    expect([...lines.keys()]).toEqual([1])
    const pairs = lines.get(1) ?? []
    expect(pairs.length).toBeGreaterThan(4)
    // The pattern moves into the block, so its columns have no counterpart.
    for (let column = 0; column < 70; column++) {
      if (column > 36 && column < 47) continue
      expect(originalColumn(pairs, markedColumn(pairs, column))).toBe(column)
    }
  })

  test('columns inside a mark convert to the column after the mark', () => {
    const pairs = shiftedLinesOf('p.catch(h); d()').get(1) ?? []
    const end = markedColumn(pairs, 9)
    expect(end).toBeGreaterThan(50)
    for (let column = 11; column <= end; column++) expect(originalColumn(pairs, column)).toBe(9)
    expect(originalColumn(pairs, 8)).toBe(8)
  })

  test('marked code contains locations of chained and nested handlers', () => {
    const code = '\n\np.then(() => {\n  q.catch(h)\n})\n  .then(a, b)\n  .catch(c)\n\nr.catch(d)'
    const locations = [...(marked(code)?.matchAll(/"a\.js:([\d:]*)#/g) ?? [])].map(([, location]) => location)
    expect(locations).toEqual(['4:11', '6:12', '7:10', '9:9'])
  })
})

function shiftedLinesOf(code: string): ShiftedLines {
  const result = transform(code, { file: '/app/a.js', root: '/app', types: ['commonjs'] })
  if (!result) throw new Error('Nothing was marked')
  return result.lines
}

/** A sample of code styles. All of node_modules would take a minute. */
const LIBRARIES = [
  'express/lib',
  'pg/lib',
  'hono/dist',
  'valibot/dist',
  'tsx/dist',
  'winston',
  'vite/dist/node',
  'axe-core',
]

describe('marked code of libraries', () => {
  test.each(LIBRARIES)('marked code can be parsed and keeps its lines: %s', (folder) => {
    let markedFiles = 0
    for (const name of readdirSync(`node_modules/${folder}`, { recursive: true, encoding: 'utf8' }).slice(0, 400)) {
      if (!/\.[cm]?js$/.test(name)) continue
      const code = readFileSync(`node_modules/${folder}/${name}`, 'utf8')
      if (code.length > 600_000) continue
      const types: SourceType[] = ['commonjs', 'module']
      const out = transform(code, { file: `/app/${name}`, root: '/app', types })
      if (!out) continue
      markedFiles++
      expect(out.code.split(LINES).length, name).toBe(code.split(LINES).length)
      expect(
        types.some((sourceType) => doesParse(out.code, sourceType)),
        name,
      ).toBe(true)
    }
    expect(markedFiles).toBeGreaterThan(0)
  })
})

function doesParse(code: string, sourceType: SourceType): boolean {
  try {
    parse(code, { ecmaVersion: 'latest', sourceType: sourceType as 'module' })
    return true
  } catch {
    return false
  }
}

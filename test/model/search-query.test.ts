import { describe, expect, test } from 'vitest'
import {
  IS_VALUES,
  parseQuery,
  QueryError,
  type QueryTerm,
  queriesWithoutOneTerm,
  unknownOperator,
  withViewerName,
} from '../../src/model/search-query.js'

/** Terms in a short notation: `!` for a negated term, `|` for a wildcard. */
function notation(query: string): string[] {
  return parseQuery(query).map(
    ({ key, parts, isNegated }: QueryTerm) => `${isNegated ? '!' : ''}${key}(${parts.join('|')})`,
  )
}

function failure(query: string): QueryError {
  try {
    parseQuery(query)
  } catch (error) {
    if (error instanceof QueryError) return error
    throw error
  }
  throw new Error(`${query} was accepted`)
}

describe('the query parser', () => {
  test('reads words, phrases, keys, negations and wildcards', () => {
    for (const [query, ...terms] of [
      [''],
      [' \t\n '],
      ['PaymentDeclined insufficient', 'text(PaymentDeclined)', 'text(insufficient)'],
      ['"not found"', 'text(not found)'],
      ['-"not found" -timeout', '!text(not found)', '!text(timeout)'],
      ['"a""b"', 'text(a)', 'text(b)'],
      ['"say \\"no\\""', 'text(say "no")'],
      ['it"s', 'text(it"s)'],
      ["'x'", "text('x')"],
      ['user:42', 'user(42)'],
      ['-user:42', '!user(42)'],
      ['user:"a b" x', 'user(a b)', 'text(x)'],
      ['tag:city="New York"', 'tag(city=New York)'],
      ['tag:city', 'tag(city)'],
      ['tag:city=Ber*', 'tag(city=Ber|)'],
      ['type:Payment*', 'type(Payment|)'],
      ['type:*Error*', 'type(|Error|)'],
      ['type:"Payment*"', 'type(Payment*)'],
      ['release:5.12*', 'release(5.12|)'],
      ['url:/a/*/b', 'url(/a/|/b)'],
      ['platform:ios is:unresolved', 'platform(ios)', 'is(unresolved)'],
      [
        'version:5.12 level:HIGH assignee:ada application:shop',
        'release(5.12)',
        'severity(high)',
        'assigned(ada)',
        'app(shop)',
      ],
      ['priority:none -severity:low', 'priority(none)', '!severity(low)'],
      ['status:500 id:42 error:0308010C', 'text(status:500)', 'text(id:42)', 'text(error:0308010C)'],
      // Only known keys in lower case are keys.
      ['foo:bar -severty:high', 'text(foo:bar)', '!text(severty:high)'],
      ['TypeError: x', 'text(TypeError:)', 'text(x)'],
      ['http://shop.example/cart', 'text(http://shop.example/cart)'],
      ['Type:x user42:x payment-api:x', 'text(Type:x)', 'text(user42:x)', 'text(payment-api:x)'],
      ['node:fs node:internal/x:95:5', 'text(node:fs)', 'text(node:internal/x:95:5)'],
      ['localhost:3000 failed: std::bad_alloc', 'text(localhost:3000)', 'text(failed:)', 'text(std::bad_alloc)'],
      ['"severty:high"', 'text(severty:high)'],
      ['environment:staging', 'environment(staging)'],
      ['a-b --c', 'text(a-b)', '!text(-c)'],
      ['Payment* * **', 'text(Payment)', 'text(*)', 'text(**)'],
      ['größe 💔', 'text(größe)', 'text(💔)'],
    ] as const)
      expect(notation(query), query).toEqual(terms)
    for (const value of IS_VALUES) expect(notation(`is:${value}`)).toEqual([`is(${value})`])
  })

  test('rejects a malformed query with the position and the next step', () => {
    for (const [query, position, message] of [
      ['"not found', 1, 'query has an unclosed quote at character 1. Add a closing quote'],
      ['a b "c', 5, 'unclosed quote at character 5'],
      ['💔 "c', 3, 'unclosed quote at character 3'],
      ['x user:"a b', 8, 'unclosed quote at character 8'],
      ['a ""', 3, 'query has empty quotes at character 3. Add a phrase or remove the quotes.'],
      ['a "  "', 3, 'empty quotes'],
      ['a -', 3, 'query has a lone - at character 3. Add the word to exclude, or quote it as "-".'],
      ['- a', 1, 'lone -'],
      ['a user: b', 3, 'query has no value after user: at character 3. Add a value, or quote the text as "user:".'],
      ['-url:', 2, 'no value after url:'],
      ['type:""', 1, 'no value after type:'],
      ['is:open', 4, 'query has an unknown value after is: at character 4. Use unresolved, resolved, new, '],
      ['is:un*', 4, 'unknown value after is:'],
      ['severity:urgent', 10, 'unknown value after severity: at character 10. Use critical, high, medium, low.'],
      ['level:urgent', 7, 'unknown value after level: at character 7'],
      ['a priority:9', 12, 'Use none, low, medium, high, critical.'],
      ['tag:=x', 5, 'query has no tag name after tag: at character 5. Use tag:name=value.'],
      ['release:*beta', 9, 'query has a * inside the value of release: at character 9. Put the * at the end'],
      ['tag:a*=b', 6, 'a * inside the value of tag:'],
      [`${'x'.repeat(1000)}y`, 1001, 'query is too long at character 1001. Use at most 1000 characters.'],
      [Array.from({ length: 21 }, () => 'w').join(' '), 41, 'query has too many terms at character 41. Use at most 20'],
    ] as const) {
      const error = failure(query)
      expect(error.message, query).toContain(message)
      expect(error.position, query).toBe(position)
      expect(error.status).toBe(422)
    }
  })

  test.each([
    ['is:new -severty:high x', 'severty', 'severity:high', 'is:new -severity:high x'],
    ['usr:42', 'usr', 'user:42', 'user:42'],
    ['User:"ada lovelace"', 'User', 'user:"ada', 'user:"ada lovelace"'],
    ['env:staging', 'env', 'environment:staging', 'environment:staging'],
    ['severty:dire', 'severty', 'severity:dire', null],
    ['foo:bar', 'foo', 'tag:foo=bar', 'tag:foo=bar'],
    ['ip:10.0.0.1', 'ip', 'tag:ip=10.0.0.1', 'tag:ip=10.0.0.1'],
    ['user.plan:pro', 'user.plan', 'tag:user.plan=pro', 'tag:user.plan=pro'],
  ])('finds a word that looks like an operator: %s', (query, name, replacement, corrected) => {
    expect(unknownOperator(query)).toMatchObject({ name, replacement, corrected })
  })

  test.each(['severity:high TypeError: x', 'http://localhost:80', '"usr:42"', 'user:42', '', ':x'])(
    'finds no unknown operator in %s',
    (query) => expect(unknownOperator(query)).toBeNull(),
  )

  test('replaces the viewer outside of quotes', () => {
    const viewer = 'ada "al" lovelace'
    for (const [query, expected] of [
      ['assigned:me', 'assigned:"ada \\"al\\" lovelace"'],
      ['is:new -assignee:me x', 'is:new -assignee:"ada \\"al\\" lovelace" x'],
      ['"x assigned:me" assigned:mel unassigned:me', '"x assigned:me" assigned:mel unassigned:me'],
    ] as const)
      expect(withViewerName(query, viewer)).toBe(expected)
    for (const name of [viewer, 'CORP\\', 'CORP\\ada', '\\\\'])
      expect(notation(withViewerName('assigned:me', name))).toEqual([`assigned(${name})`])
  })

  test('explains a query that is too long with the name of the viewer', () => {
    const viewer = '"'.repeat(255)
    const fits = `${'x'.repeat(478)} assigned:me`
    expect(parseQuery(withViewerName(fits, viewer)).at(-1)).toMatchObject({ key: 'assigned', parts: [viewer] })
    for (const [query, position, step] of [
      [`x${fits}`, 481, 'Shorten the query by 1 character.'],
      ['assigned:me -assigned:me', 1, 'Shorten the query by 44 characters.'],
    ] as const)
      expect(() => withViewerName(query, viewer)).toThrow(
        `query is too long with your name instead of assigned:me at character ${position}. ${step}`,
      )
    // Reported by the parser.
    const tooLong = `${'x'.repeat(1000)} assigned:me`
    expect(withViewerName(tooLong, viewer)).toBe(tooLong)
  })

  test('rejects hostile input immediately', () => {
    for (const query of ['x'.repeat(10_000_000), '"'.repeat(100_000), '-'.repeat(10_000), 'user:'.repeat(3000)])
      expect(failure(query).position).toBe(1001)
    expect(failure('"'.repeat(999)).message).toContain('empty quotes at character 1')
    expect(failure(`"${'\\"'.repeat(499)}`).message).toContain('unclosed quote at character 1')
  })
})

test('returns a query without each of its terms, as written', () => {
  expect(queriesWithoutOneTerm(' card  -type:"A B" is:new ')).toEqual([
    { removed: 'card', rest: '-type:"A B" is:new' },
    { removed: '-type:"A B"', rest: 'card is:new' },
    { removed: 'is:new', rest: 'card -type:"A B"' },
  ])
  expect(queriesWithoutOneTerm('"one phrase"')).toEqual([])
})

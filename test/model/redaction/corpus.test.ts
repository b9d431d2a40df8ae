import { describe, expect, test } from 'vitest'
import { plainData } from '../../../src/capture/values/plain-data.js'
import { Describer } from '../../../src/diagnostics/variables/describe-value.js'
import { isPasswordKey, SECRET_WORD, SENSITIVE_PHRASES } from '../../../src/model/redaction/key-words.js'
import { createRedactor } from '../../../src/model/redaction/redaction.js'
import { PASSWORD_PREFIX, SECRET_PREFIX, scanText } from '../../../src/model/redaction/text-scan.js'
import { displayLine } from '../../../src/model/stacks/source-line.js'
import { secretSamples, secretSourceLines } from '../../support/secrets/corpus.js'
import { ORDINARY_KEYS, ordinaryTexts } from '../../support/secrets/ordinary-texts.js'
import { packageMessages } from '../../support/secrets/package-messages.js'

const redactor = createRedactor()
const samples = secretSamples()

/** Returns true if the start or the end of a secret is visible. */
const isVisible = (output: string, secret: string) =>
  output.includes(secret.slice(0, 10)) || output.includes(secret.slice(-10))

describe('corpus of secrets', () => {
  test('contains at least 1,500 samples with distinct secrets', () => {
    expect(samples.length).toBeGreaterThanOrEqual(1500)
    expect(new Set(samples.map(({ secret }) => secret)).size).toBe(samples.length)
  })

  test('removes every secret from text', () => {
    const leaks = samples.flatMap((sample) => {
      if (!('text' in sample)) return []
      const encoded = `/items?note=${encodeURIComponent(sample.text)}&page=2`
      const outputs = [
        redactor.text(sample.text),
        redactor.text(encoded),
        JSON.stringify(plainData({ note: sample.text }, redactor)),
      ]
      return outputs.some((output) => isVisible(output, sample.secret)) ? [sample.text] : []
    })
    expect(leaks).toEqual([])
  })

  test('removes every secret from parameters, context and local variables', () => {
    const limits = { depth: 6, stringLength: 2000, arrayItems: 100, objectKeys: 100 }
    const leaks = samples.flatMap((sample) => {
      if (!('data' in sample)) return []
      const outputs = [plainData(sample.data, redactor), new Describer(redactor, limits).variable('x', sample.data)]
      return outputs.some((output) => isVisible(JSON.stringify(output), sample.secret)) ? [sample.data] : []
    })
    expect(leaks).toEqual([])
  })

  test.each(secretSourceLines())('removes the secret from a source line: $line', ({ secret, line }) => {
    expect(isVisible(displayLine(line, null, redactor), secret)).toBe(false)
  })
})

describe('corpus of ordinary text', () => {
  const texts = ordinaryTexts()

  test('alters less than 0.5% of at least 2,000 samples of ordinary text', () => {
    expect(texts.length).toBeGreaterThanOrEqual(2000)
    const altered = texts.filter((text) => redactor.text(text) !== text)
    expect(altered.length / texts.length, altered.join('\n')).toBeLessThan(0.005)
  })

  test('alters less than 0.5% of the messages in installed packages', () => {
    const messages = packageMessages()
    expect(messages.length).toBeGreaterThanOrEqual(2000)
    const altered = messages.filter((message) => redactor.text(message) !== message)
    expect(altered.length / messages.length, altered.join('\n')).toBeLessThan(0.005)
  }, 120_000)

  test('keeps the values of ordinary keys', () => {
    expect(ORDINARY_KEYS.filter(redactor.isSensitiveKey)).toEqual([])
  })

  test('keeps ordinary pairs and lists', () => {
    const ordinary = {
      fields: ['username', 'password', 'email'],
      options: [{ name: 'color', value: 'red' }],
      entries: [['page', '2']],
      codes: [{ code: 'ERR_HTTP2_STREAM_ERROR' }, { code: '23505' }, { code: 'SPRING2026' }],
      usage: { prompt_tokens: 12, completion_tokens: 7 },
    }
    expect(plainData(ordinary, redactor)).toEqual(ordinary)
  })
})

test('recognizes every sensitive phrase in the text scan', () => {
  const plain = [...SENSITIVE_PHRASES].filter((phrase) => /^[\0-\x7f]+$/.test(phrase))
  expect(plain.filter((phrase) => (scanText(phrase) & SECRET_PREFIX) === 0 || !SECRET_WORD.test(phrase))).toEqual([])
  expect(plain.filter((phrase) => isPasswordKey(phrase) && (scanText(phrase) & PASSWORD_PREFIX) === 0)).toEqual([])
})

test('applies custom words and patterns to every format', () => {
  const customRedactor = createRedactor(['salary', 'maiden name', /^x-internal-/i])
  expect(customRedactor.text('{"name":"salary","value":"S"}')).toBe('{"name":"salary","value":[FILTERED]}')
  expect(customRedactor.text("insert into staff (name, salary) values ('anna', 5000)")).toBe(
    "insert into staff (name, salary) values ('anna', [FILTERED])",
  )
  expect(customRedactor.text('X-Internal-Note: S')).toBe('X-Internal-Note: [FILTERED]')
  expect(plainData([['salary', 5000]], customRedactor)).toEqual([['salary', '[FILTERED]']])
  const customWords = createRedactor(['maiden name'])
  expect(customWords.text('maiden_name=S')).toBe('maiden_name=[FILTERED]')
})

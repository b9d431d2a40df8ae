import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../../src/model/redaction/redaction.js'

const isSensitive = createRedactor().isSensitiveKey

describe('sensitive keys', () => {
  test.each([
    'password', 'Password', 'PASSWORD', 'password2', 'newPassword', 'new_password', 'new-password', 'user[password]',
    'password_confirmation', 'db.password', 'userpassword', 'passwd', 'pwd', 'pass', 'passphrase', 'secret',
    'client_secret', 'clientSecret', 'token', 'accessToken', 'access_token', 'accesstoken', 'refresh-token', 'idToken',
    'authorization', 'Proxy-Authorization', 'auth', 'x-auth-key', 'oauth', 'credentials', 'cookie', 'Set-Cookie', 'session',
    'sessionId', 'session_id', 'JSESSIONID', 'PHPSESSID', 'connect.sid', 'api_key', 'apiKey', 'APIKey', 'apikey',
    'x-api-key', 'privateKey', 'AWS_SECRET_ACCESS_KEY', 'card', 'cardNumber', 'card_number', 'creditCard', 'cvv', 'cvv2',
    'cvc', 'iban', 'account_number', 'ssn', 'pin', 'pin_code', 'otp', 'csrf', '_csrf', 'X-CSRF-Token', 'xsrf-token', 'jwt',
    'DATABASE_URL', 'dsn', 'connectionString', 'X-Amz-Signature', 'social_security_number',
  ])('recognizes %s as sensitive', (key) => expect(isSensitive(key)).toBe(true)) // biome-ignore format: a word list reads best as lines of words

  test.each([
    'shipping', 'spinner', 'opinion', 'passenger', 'passage', 'compass', 'bypass', 'author', 'author_name', 'authority',
    'authored_by', 'secretary', 'tokenizer', 'discard', 'cardinal', 'postcard', 'scorecard', 'cardiology', 'keyboard', 'key',
    'primary_key', 'username', 'email', 'name', 'path', 'dashboard', 'inside', 'outside', 'considered', 'obsession', 'url',
    'hash_signature', '',
  ])('does not recognize %s as sensitive', (key) => expect(isSensitive(key)).toBe(false)) // biome-ignore format: a word list reads best as lines of words

  test.each([
    'session_count',
    'sessionCount',
    'token_type',
    'tokenExpiresAt',
    'cookie_size',
    'max_tokens',
    'has_password',
  ])('does not recognize %s, which only describes a secret', (key) => expect(isSensitive(key)).toBe(false))

  test('checks both ends of a long key', () => {
    expect(isSensitive(`${'x'.repeat(100_000)}_password`)).toBe(true)
    expect(isSensitive(`password_${'x'.repeat(100_000)}`)).toBe(true)
  })

  test('finds a sensitive word next to any other word and separator', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('password', 'secret', 'token', 'cookie', 'authorization'),
        fc.constantFrom('user', 'my', 'old', 'x'),
        fc.constantFrom('_', '-', '.', '[', ' ', ':'),
        (secret, other, separator) => {
          expect(isSensitive(`${other}${separator}${secret}`)).toBe(true)
          expect(isSensitive(`${secret}${separator}${other}`)).toBe(true)
          expect(isSensitive(`${other}${secret[0]?.toUpperCase()}${secret.slice(1)}`)).toBe(true)
        },
      ),
    )
  })
})

describe('custom patterns', () => {
  const { isSensitiveKey, text } = createRedactor(['salary', 'maiden name', /^x-internal-/i, /birth/gi])

  test('matches custom words and phrases as whole words', () => {
    expect(isSensitiveKey('annualSalary')).toBe(true)
    expect(isSensitiveKey('mothers_maiden_name')).toBe(true)
    expect(isSensitiveKey('name')).toBe(false)
    expect(isSensitiveKey('salaryman')).toBe(false)
  })
  test('matches a custom word before a descriptive word', () => {
    expect(isSensitiveKey('salary_total')).toBe(true)
  })
  test('matches a custom RegExp against the whole key despite stateful flags', () => {
    for (let i = 0; i < 3; i++) {
      expect(isSensitiveKey(`X-Internal-Note-${i}`)).toBe(true)
      expect(isSensitiveKey(`dateOfBirth${i}`)).toBe(true)
    }
  })
  test('applies custom patterns to text in addition to the built-in words', () => {
    expect(text('salary=100 password=x')).toBe('salary=[FILTERED] password=[FILTERED]')
  })
})

import { describe, expect, test } from 'vitest'
import type { Draft, StepContext } from '../../../src/capture/draft.js'
import { redactDetails } from '../../../src/capture/steps/redact.js'
import { createRedactor } from '../../../src/model/redaction/redaction.js'

const context = { redactor: createRedactor(), config: { environment: 'test' } } as StepContext

function redactUrl(request_url: string): string | null {
  const draft = {
    request_url,
    platform: 'API',
    environment: 'test',
    details: {},
    tags: [],
    context: [],
  } as unknown as Draft
  for (const field of ['place', 'app_version', 'git_sha', 'user_id', 'ip_address', 'user_agent'] as const) {
    draft[field] = null
  }
  redactDetails(draft, context)
  return draft.request_url
}

const TOKEN = `ghp_${'aB3'.repeat(12)}`

describe('request URLs', () => {
  test('keeps URLs without secrets', () => {
    for (const url of ['https://shop.example.com/orders/12?page=2', '/orders/a-long-name-of-a-product', '/']) {
      expect(redactUrl(url)).toBe(url)
    }
  })

  test('redacts a token after an origin that is cached', () => {
    redactUrl('https://shop.example.com/orders/12')
    expect(redactUrl(`https://shop.example.com/${TOKEN}`)).toBe('https://shop.example.com/[FILTERED]')
    expect(redactUrl(`https://shop.example.com/a?b=${TOKEN}`)).toBe('https://shop.example.com/a?b=[FILTERED]')
    expect(redactUrl('https://shop.example.com/a?token=short')).toBe('https://shop.example.com/a?token=[FILTERED]')
  })

  test('redacts a token in a host name and the secret path of a webhook', () => {
    redactUrl('https://shop.example.com/orders/12')
    expect(redactUrl(`https://${TOKEN}.example.com/a`)).not.toContain('aB3aB3')
    expect(redactUrl('https://hooks.slack.com/services/T0000/B0000/abcdef')).not.toContain('abcdef')
    expect(redactUrl('https://outlook.office.com/webhook/abcdef')).not.toContain('abcdef')
  })
})

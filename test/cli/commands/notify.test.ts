import { expect, onTestFinished, test } from 'vitest'
import { openHttpInbox } from '../../contract/http-inbox.js'
import type { Inbox } from '../../contract/inbox.js'
import { faultboard, faultboardProcess, workingDirectory } from '../faultboard.js'

async function webhook(): Promise<{ inbox: Inbox; env: Record<string, string> }> {
  const inbox = await openHttpInbox((webhook_url) => ({ webhook_url }))
  onTestFinished(() => inbox.close())
  const env = {
    FAULTBOARD_WEBHOOK_URL: String(inbox.settings.webhook_url),
    FAULTBOARD_DASHBOARD_BASE_URL: 'https://shop.example',
  }
  return { inbox, env }
}

test('notify lists channels with their targets and missing options without sending anything', async () => {
  const { inbox, env } = await webhook()
  const cwd = await workingDirectory()
  const { code, stdout, stderr } = await faultboard(['notify'], {
    cwd,
    env: { ...env, FAULTBOARD_ENABLE_EMAIL_NOTIFICATIONS: 'true' },
  })
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/chat +off +low +set enable_chat_notifications and chat_webhook_url\n/)
  expect(stdout).toMatch(/email +incomplete +low +set notification_email_recipients and mail_transport or smtp_url\n/)
  expect(stdout).toMatch(/webhook +on +low +127\.0\.0\.1:\d+\n/)
  for (const secret of inbox.secrets) expect(stdout).not.toContain(secret)
  const { channels } = JSON.parse((await faultboard(['notify', '--json'], { cwd, env })).stdout)
  expect(channels).toContainEqual(expect.objectContaining({ name: 'webhook', state: 'on', missing: [] }))
  expect(inbox.messages).toEqual([])
})

test('notify --test sends a message and exits with 0 only if it was accepted', async () => {
  const { inbox, env } = await webhook()
  const cwd = await workingDirectory()
  const sent = await faultboardProcess(['notify', '--test', 'webhook'], { cwd, env })
  expect(sent).toMatchObject({ code: 0, stderr: '' })
  expect(sent.stdout).toMatch(/^Sent to 127\.0\.0\.1:\d+ via webhook: 200 ok\n$/)
  expect(inbox.messages.map(({ raw }) => JSON.parse(raw).event)).toEqual(['test'])

  inbox.behavior = 'refuse'
  const rejected = await faultboard(['notify', '--test', 'webhook'], { cwd, env })
  expect(rejected).toMatchObject({ code: 1, stdout: '' })
  expect(rejected.stderr).toMatch(/Not sent to 127\.0\.0\.1:\d+ via webhook: 404 no_service/)

  const json = await faultboard(['notify', '--test', 'webhook', '--json'], { cwd, env })
  expect(json.code).toBe(1)
  expect(JSON.parse(json.stdout)).toMatchObject({ channel: 'webhook', state: 'failed', response: '404 no_service' })

  await inbox.close()
  const unreachable = await faultboard(['notify', '--test', 'webhook'], { cwd, env })
  expect(unreachable.code).toBe(1)
  expect(unreachable.stderr).toContain('ECONNREFUSED')
  for (const secret of inbox.secrets) expect(unreachable.stderr).not.toContain(secret)
})

test('notify reports invalid usage', async () => {
  const cwd = await workingDirectory()
  const invalid = await faultboard(['notify', '--test', 'slack'], { cwd })
  expect(invalid).toMatchObject({ code: 2, stdout: '' })
  expect(invalid.stderr).toContain('--test must be one of chat, community_chat, email, incident, webhook')
  expect((await faultboard(['notify', '--test'], { cwd })).stderr).toContain('--test needs a value: --test CHANNEL')
  const off = await faultboard(['notify', '--test', 'chat'], { cwd })
  expect(off).toMatchObject({ code: 1, stdout: '' })
  expect(off.stderr).toContain('Set enable_chat_notifications and chat_webhook_url')
})

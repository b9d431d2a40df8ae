import type { AddressInfo, Server } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import { email } from '../../src/notifications/channels/email.js'
import { sendThrough } from '../contract/channel.js'
import { NOTICES } from '../contract/notices.js'

const opened: { close(done: () => void): void }[] = []

afterEach(async () => {
  for (const server of opened.splice(0)) await new Promise<void>((resolve) => server.close(resolve))
})

async function listenPort(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const send = (smtp_url: string) =>
  sendThrough(
    email,
    { enable_email_notifications: true, notification_email_recipients: ['ops@shop.example'], smtp_url },
    { key: 'new:42:email', notice: NOTICES.new },
  )

describe('smtp_url', () => {
  async function serve(secure: boolean) {
    const secured: boolean[] = []
    const server = new SMTPServer({
      ...{ secure, authOptional: true, closeTimeout: 50, logger: false },
      onData(stream, session, done) {
        secured.push(session.secure)
        stream.resume().once('end', () => done())
      },
    })
    server.on('error', () => {})
    opened.push(server)
    return { port: await listenPort(server.server), secured }
  }

  test.each([
    ['smtps', true],
    ['smtp', false],
  ])('encrypts the SMTP connection: %s', async (scheme, secure) => {
    const { port, secured } = await serve(secure)
    expect(await send(`${scheme}://127.0.0.1:${port}?tls.rejectUnauthorized=false`)).toMatchObject({ state: 'sent' })
    expect(secured).toEqual([true])
  })

  test('sends nothing to a server with an untrusted certificate and retries', async () => {
    const { port, secured } = await serve(true)
    expect(await send(`smtps://127.0.0.1:${port}`)).toMatchObject({ state: 'failed' })
    expect(secured).toEqual([])
  })
})

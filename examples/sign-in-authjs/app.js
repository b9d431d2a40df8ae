import { Auth } from '@auth/core'
import Credentials from '@auth/core/providers/credentials'
import { serve } from '@hono/node-server'
import { Tracker } from 'faultboard'
import { faultboard } from 'faultboard/hono'
import { Hono } from 'hono'

const users = [
  { id: '1', name: 'Anna', password: 'secret of Anna', role: 'admin' },
  { id: '2', name: 'Ben', password: 'secret of Ben', role: 'viewer' },
  { id: '3', name: 'Carl', password: 'secret of Carl', role: null },
]

const authOptions = {
  basePath: '/auth',
  secret: process.env.AUTH_SECRET ?? 'only for development',
  trustHost: true,
  providers: [
    Credentials({
      credentials: { name: { label: 'Name' }, password: { label: 'Password', type: 'password' } },
      authorize: ({ name, password }) => users.find((user) => user.name === name && user.password === password) ?? null,
    }),
  ],
  callbacks: {
    jwt: ({ token, user }) => (user ? { ...token, role: user.role } : token),
    session: ({ session, token }) => ({ ...session, user: { ...session.user, role: token.role } }),
  },
}

Tracker.configure({
  async authenticate(c) {
    const request = new Request(new URL('/auth/session', c.req.url), { headers: c.req.raw.headers })
    const session = await (await Auth(request, authOptions)).json()
    return session?.user.role ? { name: session.user.name, role: session.user.role } : null
  },
  sign_in_url: '/auth/signin?callbackUrl={return_to}',
  sign_out_url: '/auth/signout',
})

const app = new Hono()
app.all('/auth/*', (c) => Auth(c.req.raw, authOptions))
app.use(faultboard())
app.get('/', () => {
  throw new Error('The first error')
})
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) })

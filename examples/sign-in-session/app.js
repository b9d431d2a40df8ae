import express from 'express'
import session from 'express-session'
import { Tracker } from 'faultboard'
import { capture, dashboard } from 'faultboard/express'
import passport from 'passport'
import { Strategy } from 'passport-local'

const users = [
  { id: 1, name: 'Anna', password: 'secret of Anna', isOperator: true },
  { id: 2, name: 'Ben', password: 'secret of Ben', isOperator: false },
]
const check = (name, password, done) =>
  done(null, users.find((user) => user.name === name && user.password === password) ?? false)

passport.use(new Strategy({ usernameField: 'name' }, check))
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, users.find((user) => user.id === id) ?? false))

Tracker.configure({
  authenticate: ({ user }) => user && { name: user.name, role: user.isOperator ? 'admin' : 'viewer' },
  sign_in_url: '/login?next={return_to}',
  sign_out_url: '/logout',
})

const app = express()
const secret = process.env.SESSION_SECRET ?? 'only for development'
app.use(session({ secret, resave: false, saveUninitialized: false, cookie: { sameSite: 'lax' } }))
app.use(passport.session())
app.get('/login', (_request, response) =>
  response.send(
    '<form method="post"><input name="name"><input name="password" type="password"><button>Sign in</button>',
  ),
)
app.post('/login', express.urlencoded(), passport.authenticate('local'), (request, response) => {
  const { next = '' } = request.query
  // Only a path of this host: `//evil.example` is another host.
  response.redirect(/^\/(?![/\\])/.test(String(next)) ? String(next) : '/error_dashboard')
})
app.get('/logout', (request, response, next) =>
  request.logout((error) => (error ? next(error) : response.redirect('/login'))),
)
// After the session, so that the request has its user.
app.use(dashboard())
app.get('/', () => {
  throw new Error('The first error')
})
app.use(capture())
app.listen(process.env.PORT ?? 3000)

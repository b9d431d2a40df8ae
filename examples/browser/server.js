import { fileURLToPath } from 'node:url'
import express from 'express'
import { Tracker } from 'faultboard'
import { capture, dashboard } from 'faultboard/express'
import { reportingEndpoint } from 'faultboard/reporting'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const app = express()
app.use(dashboard())
app.all('/client_errors', reportingEndpoint().express)

const client = fileURLToPath(import.meta.resolve('faultboard/browser.js'))
// pnpm installs the client below a dot folder, which Express does not serve by default.
app.get('/faultboard.js', (_request, response) => response.sendFile(client, { dotfiles: 'allow' }))
app.use(express.static(fileURLToPath(new URL('public', import.meta.url))))

app.use(capture())
app.listen(process.env.PORT ?? 3000)

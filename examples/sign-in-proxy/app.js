import { BlockList, isIPv6 } from 'node:net'
import express from 'express'
import { Tracker } from 'faultboard'
import { capture, dashboard } from 'faultboard/express'

// Accepts the user header only from the proxy, because any other client could forge the header.
const proxies = new BlockList()
const address = process.env.PROXY_ADDRESS ?? '127.0.0.1'
proxies.addAddress(address, isIPv6(address) ? 'ipv6' : 'ipv4')

const isFromProxy = ({ remoteAddress = '', remoteFamily = 'IPv4' }) =>
  proxies.check(remoteAddress, remoteFamily === 'IPv6' ? 'ipv6' : 'ipv4')

Tracker.configure({
  authenticate(request) {
    const name = request.get('x-forwarded-user')
    if (!name || !isFromProxy(request.socket)) return null
    const groups = request.get('x-forwarded-groups')?.split(/, */) ?? []
    return { name, email: request.get('x-forwarded-email'), role: groups.includes('ops') ? 'admin' : 'viewer' }
  },
  sign_out_url: '/oauth2/sign_out',
})

const app = express()
app.use(dashboard())
app.get('/', () => {
  throw new Error('The first error')
})
app.use(capture())
app.listen(process.env.PORT ?? 3000)

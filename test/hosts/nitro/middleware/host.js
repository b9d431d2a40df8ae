export default defineEventHandler((event) => {
  setHeader(event, 'x-host-middleware', 'yes')
  setHeader(event, 'content-security-policy', "default-src 'self'")
  event.context.user = { id: 7, name: getHeader(event, 'x-user') }
  if (event.path.startsWith('/middleware')) throw new Error('middleware is broken')
})

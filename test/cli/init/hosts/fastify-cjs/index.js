const app = require('fastify')({
  logger: false,
})
// with the other imports
// after app is created, before other plugins and the routes
const path = require('node:path')

app.get('/orders', async () => {
  throw new Error('Could not load orders')
})

app.listen({ port: Number(process.env.PORT ?? 3000) }, (error) => {
  if (error) throw error
  console.log(path.basename(__filename))
})

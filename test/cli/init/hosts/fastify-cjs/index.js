const fastify = require('fastify')({
  logger: false,
})
const path = require('node:path')

fastify.get('/orders', async () => {
  throw new Error('The orders cannot be read')
})

fastify.listen({ port: Number(process.env.PORT ?? 3000) }, (error) => {
  if (error) throw error
  console.log(path.basename(__filename))
})

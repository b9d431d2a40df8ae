import Koa from 'koa'
// with the other imports

const app = new Koa()

app.use(async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    ctx.status = 503
    ctx.body = `Sorry: ${error.message}`
  }
})
// before the routes, after middleware that turns errors into responses

app.use(async (ctx) => {
  if (ctx.path === '/orders') throw new Error('Could not load orders')
  ctx.body = 'Hello'
})

app.listen(process.env.PORT ?? 3000, '127.0.0.1')

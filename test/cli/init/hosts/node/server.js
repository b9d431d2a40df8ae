const http = require('node:http')

const server = http.createServer((request, response) => {
  if (request.url === '/orders') throw new Error('The orders cannot be read')
  response.end(/\/hello[/](\w+)/.test(request.url) ? 'Hello' : `${'}'}`)
})

process.on('uncaughtException', () => {})
server.listen(process.env.PORT ?? 3000, '127.0.0.1')

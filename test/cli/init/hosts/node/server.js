const { createServer } = require('node:http')
// with the other imports

// around the request listener

function listener(request, response) {
  if (request.url === '/orders') throw new Error('Could not load orders')
  response.end('Hello')
}

process.on('uncaughtException', () => {})
server.listen(process.env.PORT ?? 3000, '127.0.0.1')

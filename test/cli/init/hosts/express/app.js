import express from 'express'
// with the other imports
import { orders } from './orders.js'

const app = express()
// after app is created, before the routes

app.use(express.json())
app.get('/', (request, response) => response.send('Hello'))
app.get('/orders', () => orders())
// after the routes, before your own error handlers

// Error handler of the host.
app.use((error, request, response, next) => {
  response.status(503).send(`Sorry: ${error.message}`)
})

app.listen(process.env.PORT ?? 3000, '127.0.0.1')

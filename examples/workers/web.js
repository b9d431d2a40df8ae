import { Queue } from 'bullmq'
import express from 'express'
import { capture, dashboard } from 'faultboard/express'
import { connection, queue_name } from './faultboard.js'

const queue = new Queue(queue_name, { connection })
const app = express()
app.use(dashboard())
app.get('/orders/:id', async (request, response) => {
  await queue.add('confirmation', { order_id: request.params.id }, { attempts: 2, backoff: 100 })
  response.send('The confirmation is on its way')
})
app.use(capture())
app.listen(process.env.PORT ?? 3000)

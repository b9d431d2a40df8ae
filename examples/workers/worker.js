import { Worker } from 'bullmq'
import { Tracker } from 'faultboard'
import { subscribeToWorker, withFaultboard } from 'faultboard/bullmq'
import { connection, queue_name } from './faultboard.js'

Tracker.start()

async function sendConfirmation(job) {
  Tracker.addBreadcrumb({ category: 'mail', message: `confirmation of order ${job.data.order_id}` })
  throw new Error('The mail server is unavailable')
}

subscribeToWorker(new Worker(queue_name, withFaultboard(sendConfirmation), { connection }))

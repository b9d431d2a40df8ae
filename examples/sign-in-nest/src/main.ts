import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { Tracker } from 'faultboard'
import { faultboard } from 'faultboard/nest'
import { AppModule, Sessions } from './app.module.js'

const app = await NestFactory.create(AppModule)
const sessions = app.get(Sessions)

// Guards protect controllers. The dashboard uses the same service as the guard.
Tracker.configure({
  authenticate(request) {
    const user = sessions.find(request)
    return user && { name: user.name, role: user.isOperator ? 'admin' : 'viewer' }
  },
})

await faultboard(app).listen(process.env.PORT ?? 3000)

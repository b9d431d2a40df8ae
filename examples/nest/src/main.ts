import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { Tracker } from 'faultboard'
import { faultboard } from 'faultboard/nest'
import { AppModule } from './app.module.js'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD ?? null })

const app = faultboard(await NestFactory.create(AppModule))
await app.listen(process.env.PORT ?? 3000)

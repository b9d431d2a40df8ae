import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Tracker } from 'faultboard'
import { faultboard } from 'faultboard/nest'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

class OrdersController {
  find() {
    throw new Error('The orders cannot be read')
  }
}
class AppModule {}

// In plain JavaScript; in TypeScript these are the decorators @Get, @Controller and @Module.
Get()(OrdersController.prototype, 'find', Object.getOwnPropertyDescriptor(OrdersController.prototype, 'find'))
Controller('orders')(OrdersController)
Module({ controllers: [OrdersController] })(AppModule)

const app = faultboard(await NestFactory.create(AppModule))
await app.listen(process.env.PORT ?? 3000)

import { Controller, Get, Module } from '@nestjs/common'

@Controller('orders')
class OrdersController {
  @Get()
  find(): string[] {
    throw new Error('Could not load orders')
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}

import { Controller, Get, Module } from '@nestjs/common';

@Controller('orders')
class OrdersController {
  @Get()
  find(): string {
    throw new Error('The orders cannot be read');
  }
}

@Module({ controllers: [OrdersController] })
export class AppModule {}

import { Controller, Get } from '@nestjs/common';
import { AppService } from './app.service';

@Controller()
export class AppController {
  constructor(private readonly appService: AppService) {}

  @Get('orders')
  findOrders(): string {
    return this.appService.findOrders();
  }
}

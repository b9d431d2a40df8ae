import { Injectable } from '@nestjs/common';

@Injectable()
export class AppService {
  findOrders(): string {
    throw new Error('Could not load orders');
  }
}

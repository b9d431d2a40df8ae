import { Injectable } from '@nestjs/common';

@Injectable()
export class AppService {
  findOrders(): string {
    throw new Error('The orders cannot be read');
  }
}

// Mean and interval of a growing sample, by the formulas of the server's summaries.

/** A growing sample. */
export class Sample {
  /** The values, in order of arrival. */
  readonly values: number[] = [];
  private sum = 0;
  private squares = 0;

  /** Adds a value, by Welford's method, which stays accurate for large numbers. */
  add(value: number): void {
    this.values.push(value);
    const before = this.values.length === 1 ? 0 : this.sum / (this.values.length - 1);
    this.sum += value;
    this.squares += (value - before) * (value - this.mean);
  }

  get count(): number {
    return this.values.length;
  }

  get mean(): number {
    return this.sum / this.values.length;
  }

  /** Half the width of the 95 % interval of the mean: 1.96 std / sqrt(n), std with n - 1. */
  get halfWidth(): number {
    const { length } = this.values;
    return length < 2 ? NaN : 1.96 * Math.sqrt(this.squares / (length - 1) / length);
  }

  get median(): number {
    const sorted = [...this.values].sort((a, b) => a - b);
    const middle = sorted.length / 2;
    return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  }
}

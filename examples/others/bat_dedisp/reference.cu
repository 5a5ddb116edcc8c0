#include "dedispersion.h"

// The sums are exact, because they are integers below 2^24. The shifts are computed in float, as in the tuned kernel.
__global__ void reference(const unsigned char* input, const float*, const float* shifts, double* value,
                          double* magnitude) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int dm = i / nr_samples;
    if (dm >= nr_dms) return;
    double sum = 0;
    for (int channel = 0; channel < nr_channels; ++channel) {
        const unsigned shift = (dm_first + dm * dm_step) * shifts[channel];
        sum += input[channel * nr_samples_per_channel + i % nr_samples + shift];
    }
    value[i] = magnitude[i] = sum;
}

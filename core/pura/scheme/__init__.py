"""The scheme: keys, profile, payload and the schedule that both sides share.

NumPy and hashlib only, so that a serving stack can import it alone. scheme.md is its page.
"""

import numpy as np
import numpy.typing as npt

from pura.scheme.fields import Field as Field
from pura.scheme.fields import FieldValue as FieldValue
from pura.scheme.fields import fields_outside as fields_outside
from pura.scheme.fields import pack as pack
from pura.scheme.fields import parse_layout as parse_layout
from pura.scheme.fields import unpack as unpack
from pura.scheme.identity import MarkIdentity as MarkIdentity
from pura.scheme.identity import PayloadSeries as PayloadSeries
from pura.scheme.keys import KeyOrigin as KeyOrigin
from pura.scheme.keys import SecretKey as SecretKey
from pura.scheme.keys import ranks as ranks
from pura.scheme.keys import unit_interval as unit_interval
from pura.scheme.payload import Payload as Payload
from pura.scheme.payload import parse_payload as parse_payload
from pura.scheme.positions import sum_llrs as sum_llrs
from pura.scheme.profile import Profile as Profile
from pura.scheme.profile import default_blocks as default_blocks
from pura.scheme.profile import encode as encode
from pura.scheme.profile import parity_mask as parity_mask
from pura.scheme.profile import spc_data_positions as spc_data_positions
from pura.scheme.schedule import Gate as Gate
from pura.scheme.schedule import Schedule as Schedule
from pura.scheme.schedule import Scheduler as Scheduler
from pura.scheme.schedule import Step as Step
from pura.scheme.schedule import anchor as anchor
from pura.scheme.schedule import anchors as anchors
from pura.scheme.schedule import contexts_before as contexts_before
from pura.scheme.schedule import schedule as schedule

# Arrays of any shape, as all packages name them.
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
